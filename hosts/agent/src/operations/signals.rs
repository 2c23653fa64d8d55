// SPDX-License-Identifier: Apache-2.0
//! SIGTERM and SIGINT end a command that goes on until it is stopped.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use nix::sys::signal::{sigaction, SaFlags, SigAction, SigHandler, SigSet, Signal};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

pub fn stop_on_term_and_int() -> Result<()> {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let action = SigAction::new(SigHandler::Handler(stop), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores into an atomic.
        unsafe { sigaction(signal, &action) }.context("set a signal handler")?;
    }
    Ok(())
}

pub fn stopped() -> bool {
    STOP.load(Ordering::Relaxed)
}
