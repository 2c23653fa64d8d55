// SPDX-License-Identifier: Apache-2.0
//! The clock that the BPF programs read, too.

use anyhow::{Context, Result};
use nix::time::{clock_gettime, ClockId};

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).context("read the clock")?;
    Ok(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}
