// SPDX-License-Identifier: Apache-2.0
//! `decisions`: one line of JSON per reduction of a window, until a signal comes.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::kernel::clock;
use crate::kernel::decisions::Decisions;
use crate::kernel::netns::{cookie_here, Netns};
use crate::model::flow::text;
use crate::model::record::{Decision, REASONS};
use crate::operations::{signals, store};

const PERIOD: Duration = Duration::from_millis(50);

#[derive(Serialize)]
struct Line {
    time_ns: u64,
    netns_cookie: u64,
    cookie: u64,
    sport: u16,
    dport: u16,
    law: String,
    reason: &'static str,
    cwnd_before: u32,
    cwnd_after: u32,
}

/// Watches the namespaces named, or the attached ones if there are none.
pub fn run(netns: &[String]) -> Result<()> {
    signals::stop_on_term_and_int()?;
    let named = cookies(netns)?;
    let began_ns = clock::monotonic_ns()?;
    let mut decisions = Decisions::open(&named)?;
    writeln!(io::stdout(), "{{\"watching\":true}}").context("write")?;
    while !signals::stopped() {
        if named.is_empty() {
            decisions.also_watch(&attached()?)?;
        }
        for decision in decisions.read(PERIOD)? {
            // What an earlier reader left in the ring.
            if decision.time_ns >= began_ns && !print(&line(&decision))? {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn line(decision: &Decision) -> Line {
    Line {
        time_ns: decision.time_ns,
        netns_cookie: decision.netns_cookie,
        cookie: decision.cookie,
        sport: decision.sport,
        dport: decision.dport,
        law: text(&decision.cc),
        reason: REASONS.get(usize::from(decision.reason)).copied().unwrap_or("unknown"),
        cwnd_before: decision.cwnd_before,
        cwnd_after: decision.cwnd_after,
    }
}

/// False when the reader of our output has gone.
fn print(line: &Line) -> Result<bool> {
    let text = serde_json::to_string(line).context("encode a decision")?;
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).context("write a decision"),
    }
}

fn attached() -> Result<Vec<u64>> {
    Ok(store::read_all()?.into_iter().map(|attachment| attachment.netns_cookie).collect())
}

fn cookies(netns: &[String]) -> Result<Vec<u64>> {
    let here = Netns::open(None)?;
    let mut cookies = Vec::new();
    for name in netns {
        Netns::open(Some(name))?.enter()?;
        cookies.push(cookie_here());
        here.enter()?;
    }
    cookies.into_iter().collect()
}
