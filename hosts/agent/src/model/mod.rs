// SPDX-License-Identifier: Apache-2.0
//! Plain data, without access to kernel or disk.

pub mod attachment;
pub mod flow;
pub mod laws;
pub mod lldp;
pub mod parameters;
pub mod record;
