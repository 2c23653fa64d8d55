// SPDX-License-Identifier: Apache-2.0
//! Metrics of Prometheus, in the form of OpenMetrics 1.0, made of a status.
//!
//! The library puts units and `_total` behind the names. Rates and times are in Prometheus' base units: bytes, seconds.

use std::fmt::{self, Debug};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, EncodeLabelSet, EncodeMetric,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::status::{Reasons, Status, TunnelStatus};

/// The page that Prometheus is given.
pub fn render(status: Status) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("clarion_proxy");
    registry.register_collector(Box::new(Snapshot(status)));
    let mut page = String::new();
    encode(&mut page, &registry)?;
    Ok(page)
}

#[derive(Debug)]
struct Snapshot(Status);

impl Collector for Snapshot {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        let mut page = Page(encoder);
        encode_program(&mut page, &self.0)?;
        encode_totals(&mut page, &self.0)?;
        encode_tunnels(&mut page, &self.0.tunnels)?;
        encode_reductions(&mut page, &self.0.tunnels)
    }
}

fn encode_program(page: &mut Page, status: &Status) -> fmt::Result {
    let about = [("version", status.version.as_str()), ("role", &status.role), ("law", &status.law)];
    page.info("build", "Version, role, and law of new tunnels", &about)?;
    let since = status.since_unix_s;
    page.gauge("start_time", "Start of the program since 1970", Some(Unit::Seconds), since)?;
    let limits = &status.limits;
    page.gauge(
        "buffer_limit",
        "Bytes held at most for applications",
        Some(Unit::Bytes),
        limits.buffer_bytes,
    )?;
    page.gauge("connections_limit", "TCP connections at most", None, u64::from(limits.max_connections))?;
    page.gauge("connections", "TCP connections that are open", None, status.connections)?;
    let waiting = status.waiting_connections;
    page.gauge("waiting_connections", "TCP connections that wait for a tunnel", None, waiting)?;
    let up = status.tunnels.iter().filter(|tunnel| tunnel.state == "up").count() as u64;
    page.gauge("tunnels", "Tunnels that are up", None, up)
}

fn encode_totals(page: &mut Page, status: &Status) -> fmt::Result {
    let totals = &status.totals;
    let opened = totals.connections_opened;
    page.counter("connections_opened", "TCP connections begun", None, opened)?;
    let finished = totals.connections_finished;
    page.counter("connections_finished", "TCP connections that ended properly", None, finished)?;
    let aborted = &totals.connections_aborted;
    page.counters("connections_aborted", "TCP connections that were reset", aborted)?;
    let refused = &totals.openings_refused;
    page.counters("openings_refused", "Openings refused before anything was connected", refused)?;
    let from = totals.bytes_from_applications;
    page.counter("from_applications", "Payload taken from applications", Some(Unit::Bytes), from)?;
    let to = totals.bytes_to_applications;
    page.counter("to_applications", "Payload given to applications", Some(Unit::Bytes), to)?;
    page.counter("tunnels_up", "Tunnels that came up", None, totals.tunnels_up)?;
    page.counters("tunnels_lost", "Tunnels lost after they had been up", &totals.tunnels_lost)?;
    page.counters("handshakes_failed", "Tunnels that never came up", &totals.handshakes_failed)?;
    page.counter("handshakes_refused", "Newcomers not let in", None, totals.handshakes_refused)
}

/// What one tunnel has of a metric.
type Of<T> = fn(&TunnelStatus) -> T;

fn encode_tunnels(page: &mut Page, tunnels: &[TunnelStatus]) -> fmt::Result {
    let times: [(&str, &str, Of<f64>); 2] = [
        ("tunnel_smoothed_rtt", "Smoothed round trip time", |each| each.srtt_us as f64 / 1e6),
        ("tunnel_least_rtt", "Least round trip time; 0: none yet", |each| each.min_rtt_us as f64 / 1e6),
    ];
    for (name, help, of) in times {
        page.gauge_of_tunnels(name, help, Some(Unit::Seconds), tunnels, of)?;
    }
    let bytes: [(&str, &str, Of<u64>); 3] = [
        ("tunnel_window", "Congestion window", |each| each.cwnd_bytes),
        ("tunnel_mtu", "Payload of the largest datagram", |each| each.mtu_bytes),
        ("tunnel_committed", "What the peer may send, or was not yet taken", |each| each.committed_bytes),
    ];
    for (name, help, of) in bytes {
        page.gauge_of_tunnels(name, help, Some(Unit::Bytes), tunnels, of)?;
    }
    let plain: [(&str, &str, Of<u64>); 4] = [
        ("tunnel_up", "1: the tunnel is up", |each| u64::from(each.state == "up")),
        ("tunnel_pacing_bytes_per_second", "Rate of the law; 0: it has none", |each| each.pacing_bytes_per_s),
        ("tunnel_connections", "TCP connections in it", |each| each.connections),
        ("tunnel_header_open", "1: datagrams carry headers", |each| u64::from(each.header == "open")),
    ];
    for (name, help, of) in plain {
        page.gauge_of_tunnels(name, help, None, tunnels, of)?;
    }
    let counted: [(&str, &str, Option<Unit>, Of<u64>); 11] = [
        ("tunnel_sent", "Bytes of UDP payload sent", Some(Unit::Bytes), |each| each.bytes_sent),
        ("tunnel_received", "Bytes of UDP payload received", Some(Unit::Bytes), |each| each.bytes_received),
        ("tunnel_sent_datagrams", "Datagrams sent", None, |each| each.datagrams_sent),
        ("tunnel_received_datagrams", "Datagrams received", None, |each| each.datagrams_received),
        ("tunnel_lost_packets", "QUIC packets taken for lost", None, |each| each.packets_lost),
        ("tunnel_resends", "Datagrams sent again, as their loss was probable", None, |each| each.resends),
        ("tunnel_useful_resends", "Resends of what had been lost", None, |each| each.useful_resends),
        ("tunnel_false_resends", "Resends of what had not been lost", None, |each| each.false_resends),
        ("tunnel_congestion_events", "Times the law was told of congestion", None, |each| {
            each.congestion_events
        }),
        ("tunnel_reductions_undone", "Reductions taken back", None, |each| each.reductions_undone),
        ("tunnel_held_openings", "Openings as 0-RTT data that had to wait", None, |each| each.held_openings),
    ];
    for (name, help, unit, of) in counted {
        page.counter_of_tunnels(name, help, unit, tunnels, of)?;
    }
    Ok(())
}

fn encode_reductions(page: &mut Page, tunnels: &[TunnelStatus]) -> fmt::Result {
    let values = tunnels.iter().flat_map(|tunnel| {
        tunnel.reductions.iter().map(|(reason, &count)| {
            let [number, remote] = labels(tunnel);
            ([number, remote, ("reason", reason.clone())], count)
        })
    });
    page.family(
        "tunnel_reductions",
        "Reductions of the window",
        None,
        MetricType::Counter,
        values,
        ConstCounter::new,
    )
}

/// A peer may have two tunnels for a while, if it has died and come back: so the number is needed, too.
fn labels(tunnel: &TunnelStatus) -> [(&'static str, String); 2] {
    [("tunnel", tunnel.number.to_string()), ("remote", tunnel.remote.clone())]
}

struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    fn info(&mut self, name: &str, help: &str, labels: &[(&str, &str); 3]) -> fmt::Result {
        self.0.encode_descriptor(name, help, None, MetricType::Info)?.encode_info(labels)
    }

    fn gauge(&mut self, name: &str, help: &str, unit: Option<Unit>, value: u64) -> fmt::Result {
        let metric = ConstGauge::new(value);
        metric.encode(self.0.encode_descriptor(name, help, unit.as_ref(), MetricType::Gauge)?)
    }

    fn counter(&mut self, name: &str, help: &str, unit: Option<Unit>, value: u64) -> fmt::Result {
        let metric = ConstCounter::new(value);
        metric.encode(self.0.encode_descriptor(name, help, unit.as_ref(), MetricType::Counter)?)
    }

    fn counters(&mut self, name: &str, help: &str, reasons: &Reasons) -> fmt::Result {
        let values = reasons.iter().map(|(reason, &count)| ([("reason", reason.clone())], count));
        self.family(name, help, None, MetricType::Counter, values, ConstCounter::new)
    }

    fn gauge_of_tunnels<T: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        tunnels: &[TunnelStatus],
        of: Of<T>,
    ) -> fmt::Result
    where
        ConstGauge<T>: EncodeMetric,
    {
        let values = tunnels.iter().map(|tunnel| (labels(tunnel), of(tunnel)));
        self.family(name, help, unit, MetricType::Gauge, values, ConstGauge::new)
    }

    fn counter_of_tunnels<T: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        tunnels: &[TunnelStatus],
        of: Of<T>,
    ) -> fmt::Result
    where
        ConstCounter<T>: EncodeMetric,
    {
        let values = tunnels.iter().map(|tunnel| (labels(tunnel), of(tunnel)));
        self.family(name, help, unit, MetricType::Counter, values, ConstCounter::new)
    }

    fn family<L: EncodeLabelSet, T, M: EncodeMetric>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<Unit>,
        kind: MetricType,
        values: impl Iterator<Item = (L, T)>,
        metric: fn(T) -> M,
    ) -> fmt::Result {
        let mut encoder = self.0.encode_descriptor(name, help, unit.as_ref(), kind)?;
        for (labels, value) in values {
            metric(value).encode(encoder.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::status::Totals;
    use super::*;

    fn page() -> String {
        let tunnel = |number| TunnelStatus {
            number,
            remote: "[2001:db8::1]:4433".into(),
            state: "up".into(),
            srtt_us: 541_250,
            bytes_sent: 7,
            false_resends: 4,
            reductions: Reasons::from([("loss".into(), 3), ("timeout".into(), 0)]),
            ..TunnelStatus::default()
        };
        let aborted = Reasons::from([("reset".into(), 5)]);
        let totals = Totals { connections_aborted: aborted, ..Totals::default() };
        let status = Status {
            role: "client".into(),
            tunnels: vec![tunnel(1), tunnel(2)],
            totals,
            ..Status::default()
        };
        render(status).expect("page")
    }

    #[test]
    fn has_the_figures_of_the_status() {
        let page = page();
        let of = r#"{tunnel="2",remote="[2001:db8::1]:4433""#;
        for expected in [
            "# UNIT clarion_proxy_tunnel_smoothed_rtt_seconds seconds".to_owned(),
            "clarion_proxy_tunnels 2".to_owned(),
            r#"clarion_proxy_connections_aborted_total{reason="reset"} 5"#.to_owned(),
            format!("clarion_proxy_tunnel_smoothed_rtt_seconds{of}}} 0.54125"),
            format!("clarion_proxy_tunnel_sent_bytes_total{of}}} 7"),
            format!("clarion_proxy_tunnel_false_resends_total{of}}} 4"),
            format!(r#"clarion_proxy_tunnel_reductions_total{of},reason="loss"}} 3"#),
        ] {
            assert!(page.lines().any(|line| line == expected), "{expected} is not in\n{page}");
        }
        assert!(page.ends_with("# EOF\n"));
    }

    /// Prometheus refuses a page in which a series comes twice.
    #[test]
    fn no_series_comes_twice() {
        let page = page();
        let mut seen = HashSet::new();
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let (series, _) = line.rsplit_once(' ').expect("a value");
            assert!(series.starts_with("clarion_proxy_"), "{line}");
            assert!(seen.insert(series), "twice: {series}");
        }
        assert!(seen.len() > 40);
    }

    /// docs/proxy.md lists every metric, and no other.
    #[test]
    fn the_document_lists_every_metric() {
        let document = include_str!("../../../../docs/proxy.md");
        let status = Status { tunnels: vec![TunnelStatus::default()], ..Status::default() };
        let page = render(status).expect("page");
        let kinds: HashSet<String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE clarion_proxy_")?.split_once(' '))
            .map(|(name, kind)| match kind {
                "counter" => format!("{name}_total"),
                "info" => format!("{name}_info"),
                _ => name.to_owned(),
            })
            .collect();
        let table =
            document.split("| metric ").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("table");
        let listed: HashSet<String> = table
            .lines()
            .skip(2)
            .filter_map(|row| row.split('|').nth(1))
            .flat_map(|cell| cell.split('`').skip(1).step_by(2))
            .map(|name| name.split('{').next().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(kinds, listed);
    }
}
