// SPDX-License-Identifier: Apache-2.0
//! QUIC's settings for a long path.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::congestion::ControllerFactory;
use noq_proto::{AckFrequencyConfig, IdleTimeout, MtuDiscoveryConfig, TransportConfig, VarInt};

use crate::config::Limits;

/// Datagrams that every path carries (RFC 9000, 14.1).
const MIN_DATAGRAM_BYTES: u16 = 1200;
/// QUIC's own flow control is no limit: credit.rs has another.
const UNLIMITED_BYTES: VarInt = VarInt::from_u32(1 << 30);
/// So often an idle tunnel shows that it lives; NAT bindings of UDP last 30 s at least (RFC 4787, REQ-5 allows 2 min).
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Packets that the peer acknowledges at once. noq's every second packet with the 64 ranges of a path with losses
/// would be 15 Mbit/s of ACKs for 150 Mbit/s of data: more than the way back of a satellite carries.
const PACKETS_PER_ACK: u32 = 10;

/// So long the peer may wait for them: laws take a round trip that is 4 ms longer for a queue (hosts/bpf/cc/window.h),
/// and cannot tell it from a late ACK.
const ACK_DELAY: Duration = Duration::from_millis(2);

/// For paths of several thousand packets in flight, of which some get lost in every round trip.
/// `largest_datagram_bytes`: the largest that may be tried, Clarion's header and IP's deducted.
pub fn transport_config(
    limits: &Limits,
    law: Arc<dyn ControllerFactory + Send + Sync>,
    largest_datagram_bytes: u16,
) -> TransportConfig {
    let mut transport = TransportConfig::default();
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(largest_datagram_bytes.max(MIN_DATAGRAM_BYTES));
    transport
        .congestion_controller_factory(law)
        .max_concurrent_bidi_streams(VarInt::from_u32(limits.max_connections))
        .max_concurrent_uni_streams(VarInt::from_u32(1))
        .datagram_receive_buffer_size(None)
        .stream_receive_window(UNLIMITED_BYTES)
        .receive_window(UNLIMITED_BYTES)
        .send_window(limits.buffer_bytes)
        .max_idle_timeout(IdleTimeout::try_from(limits.idle_timeout).ok())
        .keep_alive_interval(Some(KEEP_ALIVE.min(limits.idle_timeout / 3)))
        .mtu_discovery_config(Some(discovery))
        .ack_frequency_config(Some(ack_frequency()));
    transport
}

fn ack_frequency() -> AckFrequencyConfig {
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(PACKETS_PER_ACK - 1)).max_ack_delay(Some(ACK_DELAY));
    acks
}
