// SPDX-License-Identifier: Apache-2.0
// What is synthesised: one port's way in, one port's way out, and both between the ports of a bump in the
// wire. Each runs freely, a call is a clock. nic/ puts the first two between the shell of a card and
// registers, crossed over for a bump; the third is a bump in one piece, for shells of one's own.
#pragma once

#include "core/types.hpp"
#include "hls/block/axis.hpp"
#include "hls/block/mailbox.hpp"

// `now`: ticks of 2^-28 s. `protocol`: of the Clarion header.
void clarion_ingress(clarion::block::Axis& from_wire, clarion::block::Axis& to_host, ap_uint<8> protocol,
                     hls::stream<clarion::block::Command>& commands,
                     hls::stream<clarion::block::Reply>& replies, clarion::Ticks now);

// `queue_elsewhere`: bytes that wait for this port behind the block, 0 if nothing queues there.
void clarion_egress(clarion::block::Axis& from_host, clarion::block::Axis& to_wire, ap_uint<8> protocol,
                    ap_uint<40> queue_elsewhere, hls::stream<clarion::block::Command>& commands,
                    hls::stream<clarion::block::Reply>& traffic_replies,
                    hls::stream<clarion::block::Reply>& grant_replies, clarion::Ticks now);

// Port a to port b and back.
void clarion_bump(clarion::block::Axis& from_wire_a, clarion::block::Axis& to_wire_a,
                  hls::stream<clarion::block::Command>& ingress_commands_a,
                  hls::stream<clarion::block::Reply>& ingress_replies_a,
                  hls::stream<clarion::block::Command>& egress_commands_a,
                  hls::stream<clarion::block::Reply>& traffic_replies_a,
                  hls::stream<clarion::block::Reply>& grant_replies_a, clarion::block::Axis& from_wire_b,
                  clarion::block::Axis& to_wire_b, hls::stream<clarion::block::Command>& ingress_commands_b,
                  hls::stream<clarion::block::Reply>& ingress_replies_b,
                  hls::stream<clarion::block::Command>& egress_commands_b,
                  hls::stream<clarion::block::Reply>& traffic_replies_b,
                  hls::stream<clarion::block::Reply>& grant_replies_b, ap_uint<8> protocol,
                  clarion::Ticks now);
