// SPDX-License-Identifier: Apache-2.0
//! Settings of noq's transport without which no law fills a long path.

use noq_proto::{MtuDiscoveryConfig, TransportConfig};

/// For paths of several thousand packets in flight, of which some get lost in every round trip.
pub fn tune(transport: &mut TransportConfig) {
    transport.mtu_discovery_config(Some(MtuDiscoveryConfig::default()));
}
