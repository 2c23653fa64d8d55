// SPDX-License-Identifier: Apache-2.0
//! What operators see: the log, the status, metrics, and what systemd is told.
//!
//! The driver shows a `Status` in `Observed` twice a second; the threads of the control socket and of the metrics only
//! read it, so that both say the same and nothing is counted twice.

mod control;
pub mod log;
mod metrics;
mod notify;
mod observed;
mod scrape;
mod status;
mod text;

pub use control::ask;
pub use log::Format;
pub use notify::{notify_ready, notify_reloading, notify_stopping};
pub use observed::{Observed, Observers};
pub use status::{ForwardStatus, LimitsStatus, Reasons, Status, Totals, TransparentStatus, TunnelStatus};
pub use text::text;
