// SPDX-License-Identifier: Apache-2.0
//! The log, on stderr: what systemd keeps, or a terminal shows.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Everything from level info on; RUST_LOG says otherwise (`RUST_LOG=clarion_proxy=debug`). A second call changes nothing.
pub fn init(format: Format) {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env_lossy();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // Fails only where a log is there already, as in tests.
    let _ = match format {
        Format::Text => builder.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        Format::Json => builder.json().flatten_event(true).try_init(),
    };
}
