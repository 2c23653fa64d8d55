// SPDX-License-Identifier: Apache-2.0
//! The status for people: a block for the program and one per tunnel.

use std::fmt::Write;

use super::status::{Reasons, Status, TunnelStatus};

/// Columns of the names.
const NAME_WIDTH: usize = 14;

/// Ends with a line feed.
pub fn text(status: &Status) -> String {
    let mut blocks = vec![program(status)];
    blocks.extend(status.tunnels.iter().map(tunnel));
    if status.tunnels.is_empty() {
        blocks.push("no tunnel\n".into());
    }
    blocks.join("\n")
}

fn program(status: &Status) -> String {
    let mut place = String::new();
    if let Some(listen) = status.listen {
        let _ = write!(place, " at {listen}");
    }
    if let Some(peer) = status.peer {
        let _ = write!(place, " of {peer}");
    }
    let mut block = format!("clarion-proxy {}, {}{place}\n", status.version, status.role);
    let (totals, limits) = (&status.totals, &status.limits);
    line(&mut block, "running", format!("{}, process {}", duration(status.uptime_s), status.pid));
    line(&mut block, "law", status.law.clone());
    let (buffer, stream) = (bytes(limits.buffer_bytes), bytes(limits.stream_bytes));
    let most = limits.max_connections;
    line(&mut block, "limits", format!("{buffer} in all, {stream} each, {most} connections"));
    for forward in &status.forwards {
        line(&mut block, "forward", format!("{} to {}", forward.listen, forward.destination));
    }
    if let Some(transparent) = &status.transparent {
        let kinds = [("local", transparent.local), ("forwarded", transparent.forwarded)];
        let kinds: Vec<&str> =
            kinds.iter().filter(|(_, is_taken)| *is_taken).map(|(name, _)| *name).collect();
        line(&mut block, "transparent", format!("{}, port {}", kinds.join(" and "), transparent.port));
    }
    line(&mut block, "connections", connections(status));
    let (from, to) = (bytes(totals.bytes_from_applications), bytes(totals.bytes_to_applications));
    line(&mut block, "payload", format!("{from} from applications, {to} to them"));
    let lost = reasons(&totals.tunnels_lost);
    line(&mut block, "tunnels", format!("{} have been up, {lost} lost", totals.tunnels_up));
    if !totals.handshakes_failed.is_empty() || totals.handshakes_refused > 0 {
        let failed = reasons(&totals.handshakes_failed);
        line(&mut block, "handshakes", format!("{failed} failed, {} refused", totals.handshakes_refused));
    }
    block
}

fn connections(status: &Status) -> String {
    let totals = &status.totals;
    let mut text = format!("{} open", status.connections);
    if status.waiting_connections > 0 {
        let _ = write!(text, " ({} wait for a tunnel)", status.waiting_connections);
    }
    let aborted = reasons(&totals.connections_aborted);
    let _ = write!(text, ", {} finished, {aborted} aborted", totals.connections_finished);
    if !totals.openings_refused.is_empty() {
        let _ = write!(text, ", {} refused", reasons(&totals.openings_refused));
    }
    text
}

fn tunnel(tunnel: &TunnelStatus) -> String {
    let mut block = format!("tunnel {} to {}\n", tunnel.number, tunnel.remote);
    let mut state = tunnel.state.clone();
    if state == "up" {
        let _ = write!(state, " for {}", duration(tunnel.up_s));
    }
    line(&mut block, "state", state);
    let least = if tunnel.min_rtt_us == 0 { "none".into() } else { milliseconds(tunnel.min_rtt_us) };
    line(&mut block, "round trip", format!("{}, least {least}", milliseconds(tunnel.srtt_us)));
    line(&mut block, "law", format!("{}, window {}, {}", tunnel.law, bytes(tunnel.cwnd_bytes), pace(tunnel)));
    let undone = tunnel.reductions_undone;
    line(&mut block, "reductions", format!("{}, {undone} undone", reasons(&tunnel.reductions)));
    line(&mut block, "header", format!("{}, datagrams of {} B", tunnel.header, tunnel.mtu_bytes));
    line(&mut block, "sent", format!("{} datagrams, {}", tunnel.datagrams_sent, bytes(tunnel.bytes_sent)));
    let received = bytes(tunnel.bytes_received);
    line(&mut block, "received", format!("{} datagrams, {received}", tunnel.datagrams_received));
    let (lost, events) = (tunnel.packets_lost, tunnel.congestion_events);
    line(&mut block, "lost", format!("{lost} packets, {events} congestion events"));
    if tunnel.resends > 0 {
        let (useful, needless) = (tunnel.useful_resends, tunnel.false_resends);
        line(
            &mut block,
            "sent again",
            format!("{} datagrams, {useful} useful, {needless} false", tunnel.resends),
        );
    }
    let committed = bytes(tunnel.committed_bytes);
    line(&mut block, "connections", format!("{}, {committed} committed", tunnel.connections));
    let is_accepted = if tunnel.early_data_accepted { "accepted" } else { "not accepted" };
    line(&mut block, "0-RTT", format!("{is_accepted}, {} openings held", tunnel.held_openings));
    block
}

fn line(block: &mut String, name: &str, value: String) {
    let _ = writeln!(block, "  {name:<NAME_WIDTH$}{value}");
}

fn pace(tunnel: &TunnelStatus) -> String {
    match tunnel.pacing_bytes_per_s {
        0 => "no rate of its own".into(),
        rate => format!("{:.1} Mbit/s", rate as f64 * 8.0 / 1e6),
    }
}

fn milliseconds(us: u64) -> String {
    format!("{:.1} ms", us as f64 / 1e3)
}

/// Decimal units, as data rates have.
fn bytes(count: u64) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match UNITS.iter().find(|(_, size)| count >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}", count as f64 / *size as f64),
        None => format!("{count} B"),
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// `8 (reset 5, refused 3)`
fn reasons(reasons: &Reasons) -> String {
    let all: u64 = reasons.values().sum();
    if all == 0 {
        return "0".into();
    }
    let each: Vec<String> = reasons
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(reason, count)| format!("{} {count}", reason.replace('_', " ")))
        .collect();
    format!("{all} ({})", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::status::{ForwardStatus, Totals};
    use super::*;

    fn status() -> Status {
        let counts = |pairs: &[(&str, u64)]| {
            pairs.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect::<Reasons>()
        };
        Status {
            version: "0.1.0".into(),
            pid: 42,
            role: "client".into(),
            peer: "192.0.2.1:4433".parse().ok(),
            uptime_s: 7_400,
            law: "boost".into(),
            forwards: vec![ForwardStatus {
                listen: "127.0.0.1:2121".parse().expect("address"),
                destination: "192.0.2.7:21".parse().expect("address"),
            }],
            connections: 3,
            tunnels: vec![TunnelStatus {
                number: 2,
                remote: "192.0.2.1:4433".into(),
                state: "up".into(),
                up_s: 59,
                law: "boost".into(),
                srtt_us: 541_250,
                min_rtt_us: 540_000,
                pacing_bytes_per_s: 18_750_000,
                header: "open".into(),
                resends: 9,
                useful_resends: 6,
                false_resends: 2,
                ..TunnelStatus::default()
            }],
            totals: Totals {
                connections_finished: 80,
                connections_aborted: counts(&[("reset", 5), ("slow_reader", 3), ("malformed", 0)]),
                ..Totals::default()
            },
            ..Status::default()
        }
    }

    #[test]
    fn values_begin_in_one_column() {
        let text = text(&status());
        for line in text.lines().filter(|line| line.starts_with("  ")) {
            let (name, value) = line.split_at(2 + NAME_WIDTH);
            assert!(name.ends_with(' ') && !value.starts_with(' '), "{line:?}");
        }
        assert_eq!(text.matches("\n\n").count(), 1, "a block for the program and one for the tunnel");
    }

    #[test]
    fn says_what_it_is_and_what_happened() {
        let text = text(&status());
        for expected in [
            "clarion-proxy 0.1.0, client of 192.0.2.1:4433\n",
            "2 h 3 min, process 42\n",
            "127.0.0.1:2121 to 192.0.2.7:21\n",
            "3 open, 80 finished, 8 (reset 5, slow reader 3) aborted\n",
            "tunnel 2 to 192.0.2.1:4433\n",
            "up for 59 s\n",
            "541.2 ms, least 540.0 ms\n",
            "150.0 Mbit/s\n",
            "9 datagrams, 6 useful, 2 false\n",
        ] {
            assert!(text.contains(expected), "{expected:?} is not in\n{text}");
        }
    }

    #[test]
    fn no_tunnel_is_said() {
        assert!(text(&Status::default()).ends_with("\nno tunnel\n"));
    }
}
