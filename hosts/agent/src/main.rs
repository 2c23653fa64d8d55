// SPDX-License-Identifier: Apache-2.0
//! `clarion-host` makes a Linux host a Clarion sender: it loads the header shim, the handshake and the
//! congestion-control laws, prepares a device for them, and shows what every flow is doing.
//!
//! It is one-shot, not a daemon. What an attachment changed is written to a file before it is changed
//! ([`operations::store`]), so that `detach` can put it back, whatever became of the process that attached.

mod cli;
mod kernel;
mod model;
mod operations;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line: the chain of contexts, outermost first.
            eprintln!("clarion-host: {error:#}");
            ExitCode::FAILURE
        }
    }
}
