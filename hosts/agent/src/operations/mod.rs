// SPDX-License-Identifier: Apache-2.0
//! The commands, one module each, and the files that attachments leave on disk.

pub mod attach;
pub mod congestion;
pub mod decisions;
pub mod list;
pub mod lldp;
pub mod parameters;
pub mod restore;
pub mod signals;
pub mod stats;
pub mod store;
