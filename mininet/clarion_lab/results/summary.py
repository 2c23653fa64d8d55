# SPDX-License-Identifier: Apache-2.0
"""summary.json: a recording condensed to numbers. Format and meaning of each field:
docs/summary-format.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from clarion_lab.recording.causes import INCIDENTS, LOSSES
from clarion_lab.recording.files import RUN_FORMAT, VERSIONS
from clarion_lab.recording.recording import (
    ByFlow,
    Decision,
    FlowSample,
    LossRecord,
    PortSample,
    Recording,
)
from clarion_lab.results import metrics
from clarion_lab.results.convergence import convergence, newcomer, settling
from clarion_lab.results.decisions import over_time, periods, quality
from clarion_lab.results.limits import payload_ceiling, survival
from clarion_lab.results.tag_quality import tag_qualities
from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedPort

AFTERMATH_US = 5_000_000  # so long a sender may suffer after the machine stood still


def summarise(
    scenario: Scenario,
    network: Network,
    recording: Recording,
    status: Mapping[str, Any],
    decisions: Sequence[Decision],
) -> dict[str, Any]:
    """The whole summary; `status` holds state, reason, engine, point and repeat."""
    of_flow = ByFlow()
    flows = [
        _flow(scenario, network, recording, flow, of_flow.of(decisions, flow.number))
        for flow in scenario.flows
    ]
    return {
        "format": RUN_FORMAT,
        "version": VERSIONS[RUN_FORMAT],
        **status,
        "scenario": scenario.name,
        "description": scenario.description,
        "seed": scenario.seed,
        "duration_s": scenario.duration_us / 1e6,
        "measured_s": list(_seconds(_window(scenario, recording))),
        "totals": _totals(scenario, recording, flows, decisions),
        "flows": flows,
        "ports": _ports(scenario, network, recording),
        "proxies": recording.proxies,
        "environment": recording.environment,
        "commands": recording.commands,
        "sampler": _sampler(scenario, recording),
        "document": scenario.document,
    }


def _window(scenario: Scenario, recording: Recording) -> tuple[int, int]:
    end_us = min(scenario.duration_us, recording.ended_us)
    return min(scenario.measure_from_us, end_us), end_us


def _sampler(scenario: Scenario, recording: Recording) -> dict[str, float]:
    """What the sampler has noted, and how long the switch was late in the measured window, or so shortly
    before it that senders may still have suffered.
    """
    if not recording.switch_late_us:
        return recording.sampler
    begin_us, end_us = _window(scenario, recording)
    begin_us = max(begin_us - AFTERMATH_US, 0)
    times, late_us = zip(*recording.switch_late_us, strict=True)
    before_us, after_us = (metrics.interpolate(times, late_us, at_us) for at_us in (begin_us, end_us))
    return {**recording.sampler, "late_s": round((after_us - before_us) / 1e6, 3)}


def _seconds(times_us: Sequence[int]) -> tuple[float, ...]:
    return tuple(time / 1e6 for time in times_us)


def _flow_window(scenario: Scenario, recording: Recording, flow: Flow) -> tuple[int, int]:
    """A sized flow is measured from its start to its completion, others inside the scenario's window."""
    begin_us, end_us = _window(scenario, recording)
    if flow.size_bytes is not None:
        return flow.start_us, recording.finished_us.get(flow.number, end_us)
    return max(begin_us, flow.start_us), min(end_us, flow.stop_us)


def _goodput(scenario: Scenario, recording: Recording, flow: Flow) -> float:
    """Bits of payload per second that the receiver acknowledged, in order or selectively, each byte once; for
    a sized flow its size over the time to its last byte at the receiver.
    """
    begin_us, end_us = _flow_window(scenario, recording, flow)
    finished = recording.finished_us.get(flow.number)
    if flow.size_bytes is not None and finished is not None:
        return flow.size_bytes * 8e6 / (finished - flow.start_us)
    times, totals = recording.delivered_of(flow.number)
    return 8 * metrics.rate_between(times, totals, begin_us, end_us)


def _flow(
    scenario: Scenario, network: Network, recording: Recording, flow: Flow, decisions: Sequence[Decision]
) -> dict[str, Any]:
    samples = recording.samples_of(flow.number)
    ends = network.endpoints[flow.number]
    begin_us, end_us = _flow_window(scenario, recording, flow)
    inside = [sample for sample in samples if begin_us <= sample.time_us <= end_us]
    connected = [sample for sample in inside if sample.srtt_us]
    agent = recording.agent.get(flow.number, {})
    finished = recording.finished_us.get(flow.number)
    idle_rtt_us = recording.idle_rtt_us.get(flow.number)
    return {
        "flow": flow.number + 1,
        "algorithm": "udp" if flow.udp else flow.algorithm.name,
        "kernel": "" if flow.udp else flow.algorithm.kernel,
        "params": dict(flow.params),
        "tags": flow.tags,
        "header": flow.header,
        "sender": f"{ends.sender.name} {ends.sender.address}:{ends.sport}",
        "receiver": f"{ends.receiver.name} {ends.receiver.address}:{ends.dport}",
        "switches": list(flow.switches[::-1] if flow.reverse else flow.switches),
        "start_s": flow.start_us / 1e6,
        "stop_s": flow.stop_us / 1e6,
        "size_bytes": flow.size_bytes,
        "completed_s": None if finished is None else finished / 1e6,
        "path_rtt_ms": scenario.path_rtt_us(flow) / 1e3,
        "idle_rtt_ms": None if idle_rtt_us is None else idle_rtt_us / 1e3,
        "goodput_bits_per_s": _goodput(scenario, recording, flow),
        "settling": settling(scenario, recording, [flow], flow.start_us),
        "acked_bytes": samples[-1].bytes_acked if samples else 0,
        "received_bytes": max((sample.received_bytes for sample in samples), default=0),
        "retransmits": samples[-1].retransmits if samples else 0,
        "srtt_ms_mean": _mean([sample.srtt_us / 1e3 for sample in connected]),
        "cwnd_packets_mean": _mean([sample.cwnd_packets for sample in connected]),
        "receiver_limited": _share(inside, "rwnd_limited_us"),
        "send_buffer_limited": _share(inside, "sndbuf_limited_us"),
        "losses": _losses(recording.losses_of(flow.number)),
        "incidents": _incidents(recording.incidents_of(flow.number)),
        "decisions": None if recording.reductions is None else quality(decisions),
        "tagged": {"corrupt": agent.get("rev_corrupt"), "congest": agent.get("rev_congest")}
        if flow.tags
        else None,
        "sender_state": {
            key: agent[key]
            for key in ("aware", "mode", "plain_fallbacks", "reductions", "gso_passed")
            if key in agent
        },
        "iperf3": recording.traffic.get(flow.number),
        "application": recording.applications.get(flow.number),
    }


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _share(samples: Sequence[FlowSample], field: str) -> float | None:
    """The share of the measured time that the kernel counted to a limit."""
    if len(samples) < 2 or samples[-1].time_us == samples[0].time_us:
        return None
    spent: int = getattr(samples[-1], field) - getattr(samples[0], field)
    return spent / (samples[-1].time_us - samples[0].time_us)


def _losses(losses: Sequence[LossRecord]) -> dict[str, int]:
    """What was lost of one flow."""
    counts = Counter(f"{'data' if loss.forward else 'ack'}_{loss.cause}" for loss in losses)
    return {f"{kind}_{cause}": counts[f"{kind}_{cause}"] for kind in ("data", "ack") for cause in LOSSES}


def _incidents(incidents: Sequence[LossRecord]) -> dict[str, int]:
    """What happened to one flow's packets beside losses."""
    counts = Counter(incident.cause for incident in incidents)
    return {cause: counts[cause] for cause in INCIDENTS}


def _decisions(scenario: Scenario, recording: Recording, decisions: Sequence[Decision]) -> dict[str, Any]:
    """All decisions, at the end and over time; without figures where none were recorded."""
    if recording.reductions is None:
        return {"recorded": False, "reason": recording.reductions_fault or "the run ended before"}
    stretches = periods(scenario, recording.ended_us)
    return {
        "recorded": True,
        **quality(decisions),
        "over_time": over_time(decisions, stretches),
    }


def _totals(
    scenario: Scenario, recording: Recording, flows: list[dict[str, Any]], decisions: Sequence[Decision]
) -> dict[str, Any]:
    goodput = _total_goodput(scenario, recording, flows)
    ceiling = payload_ceiling(scenario, *_window(scenario, recording))
    limit = (
        None
        if ceiling is None
        else ceiling * survival(scenario, scenario.flows[0], *_window(scenario, recording))
    )
    return {
        "goodput_bits_per_s": goodput,
        "payload_ceiling_bits_per_s": ceiling,
        "physical_limit_bits_per_s": limit,
        "fraction_of_ceiling": None if not ceiling else goodput / ceiling,
        "fraction_of_limit": None if not limit else goodput / limit,
        "jain": metrics.jain(
            [
                each["goodput_bits_per_s"]
                for flow, each in zip(scenario.flows, flows, strict=True)
                if not flow.udp
            ]
        ),
        "convergence": convergence(scenario, recording, limit),
        "settling": settling(
            scenario, recording, scenario.flows, max(flow.start_us for flow in scenario.flows)
        ),
        "newcomer": newcomer(scenario, recording, limit),
        "retransmits": sum(flow["retransmits"] for flow in flows),
        "losses": {cause: sum(flow["losses"][cause] for flow in flows) for cause in flows[0]["losses"]},
        "incidents": {kind: sum(flow["incidents"][kind] for flow in flows) for kind in INCIDENTS},
        "idle_rtt_ms": _mean([rtt_us / 1e3 for rtt_us in recording.idle_rtt_us.values()]),
        "proxy": _proxy(recording),
        "unasked_drop_packets": sum(recording.unasked_drops.values()),
        "tags": tag_qualities(scenario, recording),
        "decisions": _decisions(scenario, recording, decisions),
    }


def _proxy(recording: Recording) -> dict[str, Any] | None:
    """What the proxies took together, by their side; None without."""
    if not recording.proxies:
        return None
    sides = {}
    for role in ("client", "server"):
        mine = [each for each in recording.proxies if each["role"] == role]
        cpu_s, carried = (sum(each[key] for each in mine) for key in ("cpu_s", "carried_bytes"))
        sides[role] = {
            "cpu_s": cpu_s,
            "cpu_share": _mean([each["cpu_share"] for each in mine if each["cpu_share"] is not None]),
            "cpu_s_per_gbyte": cpu_s * 1e9 / carried if carried else None,
            "peak_rss_bytes": max((each["peak_rss_bytes"] for each in mine), default=0),
        }
    return sides


def _total_goodput(scenario: Scenario, recording: Recording, flows: Sequence[Mapping[str, Any]]) -> float:
    """The sum of the flows' goodputs; of transfers that come one after the other what arrives in the measured
    window, since the sum of their rates is nothing that a link carries.
    """
    come_apart = len({flow.start_us for flow in scenario.flows if flow.size_bytes is not None}) > 1
    total = 0.0
    for flow, each in zip(scenario.flows, flows, strict=True):
        if flow.size_bytes is None or not come_apart:
            total += each["goodput_bits_per_s"]
            continue
        times, totals = recording.delivered_of(flow.number)
        finished = recording.finished_us.get(flow.number)
        times, totals = [flow.start_us, *times], [0, *totals]
        if finished is not None:
            known = bisect_left(times, finished)
            times, totals = [*times[:known], finished], [*totals[:known], flow.size_bytes]
        total += 8 * metrics.rate_between(times, totals, *_window(scenario, recording))
    return total


def _ports(scenario: Scenario, network: Network, recording: Recording) -> list[dict[str, Any]]:
    samples: dict[str, list[PortSample]] = {}
    for sample in recording.port_samples:
        samples.setdefault(sample.port, []).append(sample)
    window = _window(scenario, recording)
    return [
        _port(scenario, recording, switch, port, samples.get(port.name, []), window)
        for switch, ports in network.switches.items()
        for port in ports
    ]


def _port(
    scenario: Scenario,
    recording: Recording,
    switch: str,
    port: PlannedPort,
    samples: list[PortSample],
    window: tuple[int, int],
) -> dict[str, Any]:
    times = [sample.time_us for sample in samples]

    def rate(field: str) -> float:
        return metrics.rate_between(times, [getattr(sample, field) for sample in samples], *window)

    bdp_bytes = port.rate_bps / 8 * scenario.max_rtt_us / 1e6
    mean_bytes = rate("queue_byte_us") / 1e6
    last = samples[-1] if samples else None
    return {
        "switch": switch,
        "port": port.name,
        "role": port.role,
        "carries_data": port.carries_data,
        "rate_bits_per_s": port.rate_bps,
        "rate_steps": [{"at_s": at_us / 1e6, "rate_bits_per_s": bps} for at_us, bps in port.rate_steps.steps],
        "queue_limit_bytes": port.queue_bytes,
        "bdp_bytes": bdp_bytes,
        "utilisation": 8 * rate("tx_bytes") / port.rate_steps.mean(port.rate_bps, *window, float)
        if port.rate_bps
        else None,
        "queue_mean_bytes": mean_bytes,
        "queue_mean_bdp": mean_bytes / bdp_bytes if bdp_bytes else None,
        "queue_p99_bytes": _queue_p99(recording, port),
        "tx_packets": last.tx_packets if last else 0,
        "drop_packets": last.drop_packets if last else 0,
        "drop_packets_measured": round(rate("drop_packets") * (window[1] - window[0]) / 1e6),
        "wire_lost_packets": last.wire_lost_packets if last else 0,
        "wire_loss": last.wire_lost_packets / last.tx_packets if last and last.tx_packets else None,
        "unasked_drop_packets": recording.unasked_drops.get(port.name, 0),
        "packet_queue": recording.packet_queues.get(port.name),
    }


def _queue_p99(recording: Recording, port: PlannedPort) -> float | None:
    histogram = recording.histograms.get(port.name)
    if histogram is None:
        return None
    before = histogram.at_window_start_us
    weights = [
        late - (before[index] if index < len(before) else 0) for index, late in enumerate(histogram.latest_us)
    ]
    return metrics.quantile_from_histogram(histogram.lower_edges_bytes, weights, 0.99)
