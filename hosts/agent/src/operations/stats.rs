// SPDX-License-Identifier: Apache-2.0
//! `stats`: one record per flow, living or closed, once or at an interval.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::kernel::flows::Flows;
use crate::kernel::maps;
use crate::model::flow::Flow;
use crate::model::record::FlowRecord;
use crate::operations::{signals, store};

/// When samples are taken: once, or every `interval` until a signal comes or `duration` is over.
pub struct Schedule {
    pub interval: Option<Duration>,
    pub duration: Option<Duration>,
}

#[derive(Serialize)]
struct Sample {
    time_us: u64,
    flows: Vec<Flow>,
}

pub fn run(schedule: &Schedule, json: bool) -> Result<()> {
    signals::stop_on_term_and_int()?;
    let end = schedule.duration.map(|duration| Instant::now() + duration);
    let mut flows = None;
    let mut next = Instant::now();
    while !signals::stopped() {
        if flows.is_none() {
            flows = Flows::open()?; // something may be attached while this runs
        }
        let living = flows.as_ref().map_or_else(|| Ok(Vec::new()), Flows::read)?;
        if !print(&sample(&living, &maps::closed_flows())?, json)? {
            break;
        }
        let Some(interval) = schedule.interval else { break };
        next += interval;
        if end.is_some_and(|end| next > end) {
            break;
        }
        std::thread::sleep(next.saturating_duration_since(Instant::now())); // a signal ends it early
    }
    Ok(())
}

fn sample(living: &[FlowRecord], closed: &[FlowRecord]) -> Result<Sample> {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).context("clock before 1970")?;
    let names = names_by_cookie()?;
    let over: HashSet<u64> = closed.iter().map(|flow| flow.id.cookie).collect();
    let living = living.iter().filter(|flow| !over.contains(&flow.id.cookie) && flow.id.cookie != 0);
    let mut flows: Vec<Flow> = living
        .map(|flow| Flow::new(flow, false, &names))
        .chain(closed.iter().map(|flow| Flow::new(flow, true, &names)))
        .collect();
    flows.sort_by_key(|flow| flow.cookie);
    flows.dedup_by_key(|flow| flow.cookie); // met twice if its place in the map is used again meanwhile
    Ok(Sample { time_us: time.as_micros() as u64, flows })
}

fn names_by_cookie() -> Result<BTreeMap<u64, String>> {
    let attachments = store::read_all()?;
    Ok(attachments.into_iter().map(|attachment| (attachment.netns_cookie, attachment.netns)).collect())
}

/// False when the reader of our output has gone.
fn print(sample: &Sample, json: bool) -> Result<bool> {
    let text = if json { serde_json::to_string(sample).context("encode the sample")? } else { table(sample) };
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).context("write the sample"),
    }
}

fn table(sample: &Sample) -> String {
    let mut lines = vec![format!(
        "{:<12} {:<44} {:<12} {:<14} {:<5} {:>9} {:>8} {:>10} {:>8} {:>8} {:>8}",
        "netns", "flow", "state", "cc", "mode", "srtt ms", "cwnd", "Mbit/s", "lost", "corrupt", "congest"
    )];
    for flow in &sample.flows {
        let ends = format!("{}:{} > {}:{}", flow.src, flow.sport, flow.dst, flow.dport);
        let pacing_mbit = if flow.pacing_rate_bytes_per_s == u64::MAX {
            "-".to_owned()
        } else {
            format!("{:.2}", flow.pacing_rate_bytes_per_s as f64 * 8e-6)
        };
        lines.push(format!(
            "{:<12} {ends:<44} {:<12} {:<14} {:<5} {:>9.3} {:>8} {pacing_mbit:>10} {:>8} {:>8} {:>8}",
            flow.netns,
            if flow.closed { "closed" } else { flow.state },
            if flow.protocol == "udp" { "- (udp)" } else { &flow.cc },
            flow.mode,
            f64::from(flow.srtt_us) / 1e3,
            flow.cwnd_packets,
            flow.lost,
            flow.rev_corrupt,
            flow.rev_congest
        ));
    }
    lines.join("\n")
}
