// SPDX-License-Identifier: Apache-2.0
//! What the agent knows, as plain data: nothing here asks the kernel or the disk.

pub mod attachment;
pub mod flow;
pub mod parameters;
pub mod record;
