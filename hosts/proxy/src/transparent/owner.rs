// SPDX-License-Identifier: Apache-2.0
//! A process by its id and its start time, so that a process that has the id by now is not taken for it.

use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// In clock ticks since boot: field 22 of /proc/PID/stat (proc(5)).
    pub started_ticks: u64,
}

impl Owner {
    /// This process.
    pub fn this() -> Result<Self> {
        let pid = std::process::id();
        let started_ticks = started_ticks(pid).context("read the start time of this process from /proc")?;
        Ok(Self { pid, started_ticks })
    }

    pub fn is_alive(&self) -> bool {
        started_ticks(self.pid) == Some(self.started_ticks)
    }
}

/// `None` if there is no such process, or only what its parent has not collected yet.
fn started_ticks(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before ')' may hold spaces and parentheses itself.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.nth(18)?.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_a_process_from_its_successor() {
        let this = Owner::this().expect("this process");
        assert!(this.is_alive());
        assert!(!Owner { started_ticks: this.started_ticks + 1, ..this }.is_alive());
    }

    #[test]
    fn a_dead_child_is_dead_before_it_is_collected() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let owner = Owner { pid: child.id(), started_ticks: started_ticks(child.id()).expect("alive") };
        assert!(owner.is_alive());
        child.kill().expect("kill");
        while owner.is_alive() {
            std::thread::yield_now();
        }
        assert!(fs::metadata(format!("/proc/{}", owner.pid)).is_ok(), "not collected yet");
        child.wait().expect("wait");
    }
}
