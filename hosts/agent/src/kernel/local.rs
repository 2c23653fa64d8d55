// SPDX-License-Identifier: Apache-2.0
//! The program that counts packets with header dropped by queues of this host; one for the machine.

use anyhow::{Context, Result};

use crate::kernel::objects;
use crate::kernel::pins::pin_of;

const LINK: &str = "local";

/// Loads, attaches and pins it, unless it is.
pub fn load() -> Result<()> {
    if pin_of(LINK).exists() {
        return Ok(());
    }
    let object = objects::load(objects::open(objects::LOCAL, "local")?, "local")?;
    let program = object.progs_mut().next().context("local without program")?;
    let mut link = program.attach_trace().context("attach to the tracepoint kfree_skb")?;
    link.pin(pin_of(LINK)).context("pin the counter of local drops")
}
