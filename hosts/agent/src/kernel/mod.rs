// SPDX-License-Identifier: Apache-2.0
//! One interface of the kernel per module: netlink, tc, BPF objects and maps, sysctl, namespaces.

pub mod clock;
pub mod decisions;
pub mod device;
pub mod features;
pub mod flows;
pub mod handshake;
pub mod laws;
pub mod lldp_socket;
pub mod local;
pub mod maps;
pub mod netlink;
pub mod netns;
pub mod objects;
pub mod parameters;
pub mod pins;
pub mod preconditions;
pub mod routes;
pub mod shared;
pub mod sysctl;
pub mod tc;
