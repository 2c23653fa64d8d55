// SPDX-License-Identifier: Apache-2.0
//! Settings of noq's transport without which no law fills a long path.
//!
//! One thing is no setting: streams must be read unordered. What waits for a lost packet noq 1.4 keeps in at most
//! 2048 pieces (`COMPACT_THRESHOLD` of its assembler), one for each packet, and beyond closes the connection with "too many
//! gaps in stream buffer". At 150 Mbit/s that is 160 ms.

use std::time::Duration;

use noq_proto::{AckFrequencyConfig, MtuDiscoveryConfig, TransportConfig, VarInt};

/// Ethernet's 1500 bytes less IPv4, UDP and the Clarion header of 32 bytes. Behind IPv6, and where the path has less,
/// discovery finds less.
const LARGEST_DATAGRAM_BYTES: u16 = 1500 - 20 - 8 - 32;

/// What one stream and what all may have under way. A packet that is lost n times stays n + 1 round trips, and until
/// then all that follows it waits at the receiver, while the sender holds it: four bandwidth-delay products of
/// 150 Mbit/s and 800 ms.
const STREAM_BYTES: u32 = 64 << 20;
const CONNECTION_BYTES: u32 = 256 << 20;

/// Packets that the peer acknowledges at once. noq's every second packet with the 64 ranges of a path with losses
/// would be 15 Mbit/s of ACKs for 150 Mbit/s of data: more than the way back of a satellite carries.
const PACKETS_PER_ACK: u32 = 10;

/// So long the peer may wait for them: laws take a round trip that is 4 ms longer for a queue (hosts/bpf/cc/window.h),
/// and cannot tell it from a late ACK.
const ACK_DELAY: Duration = Duration::from_millis(2);

/// For paths of several thousand packets in flight, of which some get lost in every round trip. Limits of memory may
/// be set after it.
pub fn tune(transport: &mut TransportConfig) {
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(LARGEST_DATAGRAM_BYTES);
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(PACKETS_PER_ACK - 1)).max_ack_delay(Some(ACK_DELAY));
    transport
        .mtu_discovery_config(Some(discovery))
        .stream_receive_window(VarInt::from_u32(STREAM_BYTES))
        .receive_window(VarInt::from_u32(CONNECTION_BYTES))
        .send_window(CONNECTION_BYTES.into())
        .send_fairness(true)
        .ack_frequency_config(Some(acks));
}
