// SPDX-License-Identifier: Apache-2.0
//! `stats`: one record per flow, living or closed, once or at an interval.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use libbpf_rs::{Iter, Link, MapHandle, Object};
use nix::sys::signal::{sigaction, SaFlags, SigAction, SigHandler, SigSet, Signal};
use serde::Serialize;
use std::os::fd::AsFd;

use crate::cli::StatsArgs;
use crate::kernel::{bpf, maps};
use crate::model::record::{self, FlowRecord};
use crate::operations::state;

const AF_INET6: u16 = libc::AF_INET6 as u16;

/// Names of the kernel's TCP states, by number.
const STATES: [&str; 13] = [
    "unknown",
    "established",
    "syn-sent",
    "syn-recv",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "close",
    "close-wait",
    "last-ack",
    "listen",
    "closing",
    "new-syn-recv",
];

#[derive(Serialize)]
struct Sample {
    time_us: u64,
    flows: Vec<Flow>,
}

#[derive(Serialize)]
struct Flow {
    cookie: u64,
    netns: String,
    family: &'static str,
    src: IpAddr,
    sport: u16,
    dst: IpAddr,
    dport: u16,
    state: &'static str,
    cc: String,
    aware: bool,
    plain_fallbacks: u8,
    mode: &'static str,
    srtt_us: u32,
    min_rtt_us: u32,
    cwnd_packets: u32,
    pacing_rate_bytes_per_s: u64,
    delivered: u32,
    lost: u32,
    feedback_bytes_per_s: i64,
    rev_corrupt: u32,
    rev_congest: u32,
    rx_corrupt: u16,
    rx_congest: u16,
    reductions: Reductions,
    tx_headers: u64,
    rx_headers: u64,
    gso_passed: u64,
    closed: bool,
}

#[derive(Serialize)]
struct Reductions {
    congestion: u32,
    unexplained: u32,
    loss: u32,
    timeout: u32,
    delay: u32,
}

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// The iterator over the flows that live.
struct Flows {
    link: Link,
    _object: Object,
}

impl Flows {
    /// `None` if nothing is attached.
    fn open() -> Result<Option<Self>> {
        let Some(map) = maps::open("flows") else {
            return Ok(None);
        };
        let object = bpf::load(bpf::open(bpf::STATS, "stats")?, "stats")?;
        let link = attach(&object, &map)?;
        Ok(Some(Self { link, _object: object }))
    }

    fn read(&self) -> Result<Vec<FlowRecord>> {
        let mut bytes = Vec::new();
        let mut iterator = Iter::new(&self.link).context("open the flow iterator")?;
        iterator.read_to_end(&mut bytes).context("read the flow iterator")?;
        Ok(bytes.chunks_exact(size_of::<FlowRecord>()).filter_map(record::from_bytes).collect())
    }
}

fn attach(object: &Object, map: &MapHandle) -> Result<Link> {
    let program = object.progs_mut().next().context("stats without program")?;
    program.attach_iter(map.as_fd()).context("attach the flow iterator")
}

pub fn run(args: &StatsArgs) -> Result<()> {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let action = SigAction::new(SigHandler::Handler(stop), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores into an atomic.
        unsafe { sigaction(signal, &action) }.context("set a signal handler")?;
    }
    let interval = args.interval_ms.map(Duration::from_millis);
    let end = args.duration_s.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut flows = None;
    let mut next = Instant::now();
    while !STOP.load(Ordering::Relaxed) {
        if flows.is_none() {
            flows = Flows::open()?; // something may be attached while this runs
        }
        let living = flows.as_ref().map_or_else(|| Ok(Vec::new()), Flows::read)?;
        if !print(&sample(&living, &maps::closed_flows())?, args.json)? {
            break;
        }
        let Some(interval) = interval else { break };
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
        .map(|flow| describe(flow, false, &names))
        .chain(closed.iter().map(|flow| describe(flow, true, &names)))
        .collect();
    flows.sort_by_key(|flow| flow.cookie);
    Ok(Sample { time_us: time.as_micros() as u64, flows })
}

fn names_by_cookie() -> Result<BTreeMap<u64, String>> {
    let attachments = state::read_all()?;
    Ok(attachments.into_iter().map(|attachment| (attachment.netns_cookie, attachment.netns)).collect())
}

fn describe(flow: &FlowRecord, closed: bool, names: &BTreeMap<u64, String>) -> Flow {
    let (src, dst) = (address(flow.family, flow.src), address(flow.family, flow.dst));
    let stats = &flow.stats;
    Flow {
        cookie: flow.id.cookie,
        netns: names.get(&flow.id.netns_cookie).cloned().unwrap_or_else(|| flow.id.netns_cookie.to_string()),
        family: if src.is_ipv4() { "ipv4" } else { "ipv6" },
        src,
        sport: flow.sport,
        dst,
        dport: flow.dport,
        state: STATES.get(flow.state as usize).unwrap_or(&STATES[0]),
        cc: text(&flow.cc),
        aware: flow.id.aware != 0,
        plain_fallbacks: flow.id.plain_fallbacks,
        mode: mode(flow),
        srtt_us: flow.srtt_us,
        min_rtt_us: flow.min_rtt_us,
        cwnd_packets: flow.cwnd_packets,
        pacing_rate_bytes_per_s: flow.pacing_rate_bytes_per_s,
        delivered: flow.delivered,
        lost: flow.lost,
        feedback_bytes_per_s: stats.feedback_bytes_per_s,
        rev_corrupt: total(stats.corrupt),
        rev_congest: total(stats.congest),
        rx_corrupt: flow.seen.corrupt,
        rx_congest: flow.seen.congest,
        reductions: Reductions {
            congestion: stats.reduced_congestion,
            unexplained: stats.reduced_unexplained,
            loss: stats.reduced_loss,
            timeout: stats.reduced_timeout,
            delay: stats.reduced_delay,
        },
        tx_headers: stats.tx_headers,
        rx_headers: stats.rx_headers,
        gso_passed: stats.gso_passed,
        closed,
    }
}

/// A total since the flow began. It is below zero for a moment if it began just when a packet was overtaken.
fn total(unwrapped: u32) -> u32 {
    if (unwrapped as i32) < 0 {
        0
    } else {
        unwrapped
    }
}

/// What the flow's own data packets carry.
fn mode(flow: &FlowRecord) -> &'static str {
    if flow.id.aware == 0 || flow.id.plain != 0 {
        "plain"
    } else if flow.wanted != 0 {
        "xcp"
    } else if flow.id.tags != 0 || flow.id.peer_format != record::FORMAT_NONE {
        "tag"
    } else {
        "plain"
    }
}

/// A v4-mapped address of a dual-stack socket is an IPv4 address.
fn address(family: u16, bytes: [u8; 16]) -> IpAddr {
    if family == AF_INET6 {
        let address = Ipv6Addr::from(bytes);
        return address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
    }
    IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
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
            flow.cc,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_addresses_are_ipv4() {
        let mut bytes = [0; 16];
        bytes[10..].copy_from_slice(&[0xff, 0xff, 10, 0, 0, 1]);
        assert_eq!(address(AF_INET6, bytes).to_string(), "10.0.0.1");
        bytes[10] = 0;
        assert_eq!(address(AF_INET6, bytes).to_string(), "::ff:a00:1");
        assert_eq!(address(2, [10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).to_string(), "10.0.0.2");
    }

    #[test]
    fn totals_are_not_negative() {
        assert_eq!(total(7), 7);
        assert_eq!(total(u32::MAX), 0); // -1
    }

    #[test]
    fn mode_follows_what_is_sent() {
        let mut flow = FlowRecord::default();
        assert_eq!(mode(&flow), "plain");
        flow.id.aware = 1;
        flow.id.tags = 1;
        assert_eq!(mode(&flow), "tag");
        flow.wanted = 1;
        assert_eq!(mode(&flow), "xcp");
        flow.id.plain = 1;
        assert_eq!(mode(&flow), "plain");
    }
}
