// SPDX-License-Identifier: Apache-2.0
//! One interface of the kernel per module: netlink, tc, BPF objects and maps, sysctl, namespaces.

pub mod bpf;
pub mod cc;
pub mod device;
pub mod features;
pub mod maps;
pub mod netlink;
pub mod netns;
pub mod params;
pub mod preconditions;
pub mod routes;
pub mod sysctl;
pub mod tc;
