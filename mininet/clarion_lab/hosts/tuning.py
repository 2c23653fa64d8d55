# SPDX-License-Identifier: Apache-2.0
"""Host tuning, the same for every algorithm: offloads and buffers, so that no buffer limits a flow.

TCP still hands down several segments at once, which the kernel cuts in software, except where clarion-host
sets `gso_max_segs 1` because a header has to go on each packet. Setting it everywhere would hold BBR, whose
pacing then needs a timer per packet, to a quarter of 1 Gbit/s.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from clarion_lab.machine import cpus
from clarion_lab.scenario.flows import DeviceLimit, Flow
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import PlannedHost

OFFLOADS_OFF = ("tx", "tso", "gso", "gro")
MIN_BUFFER_BYTES = 4 << 20
MAX_BUFFER_BYTES = 1 << 30
# Socket memory is charged about twice the payload, and a window stays for each time that a packet is lost.
BUFFER_BDPS = 16
MIN_BURST_BYTES = 3200  # two full packets with headers
BURST_S = 0.002  # of a device that is slower than the path
MIN_UNSENT_BYTES = 256 << 10
UNSENT_S = 0.02
# Senders that do not pace themselves use the pacing rate only to bound what lies below TCP to 1 ms of it; a
# host that gets its processor a little later than that would limit the flow.
PACING_PERCENT = 1000
# What hosts with `hosts: stock` get too: it keeps one run from another, and flows comparable.
ALWAYS = (
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_orphan_retries",
    "net.ipv6.conf.all.disable_ipv6",
)


def buffer_bytes(scenario: Scenario) -> int:
    """The largest socket buffer: 16 bandwidth-delay products of the fastest bottleneck, within bounds."""
    largest = max(scenario.bdp_bytes(link) for link in scenario.bottlenecks)
    return min(max(int(BUFFER_BDPS * largest), MIN_BUFFER_BYTES), MAX_BUFFER_BYTES)


def unsent_bytes(scenario: Scenario) -> int:
    """How much a sender queues ahead of its window: enough for a late wake-up, little enough to drain."""
    fastest = max(link.fastest_bps for link in scenario.bottlenecks)
    return max(MIN_UNSENT_BYTES, int(fastest / 8 * UNSENT_S))


def sysctls(scenario: Scenario) -> dict[str, str]:
    """What is set in each host's namespace (they go away with it)."""
    settings = _tuned(scenario)
    return settings if scenario.tuned else {name: settings[name] for name in ALWAYS}


def _tuned(scenario: Scenario) -> dict[str, str]:
    largest = buffer_bytes(scenario)
    return {
        "net.ipv4.tcp_rmem": f"4096 {largest} {largest}",
        "net.ipv4.tcp_wmem": f"4096 262144 {largest}",
        "net.ipv4.tcp_notsent_lowat": str(unsent_bytes(scenario)),
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_slow_start_after_idle": "0",
        "net.ipv4.tcp_timestamps": "1",
        "net.ipv4.tcp_sack": "1",
        "net.ipv4.tcp_mtu_probing": "0",
        "net.ipv4.tcp_pacing_ss_ratio": str(PACING_PERCENT),
        "net.ipv4.tcp_pacing_ca_ratio": str(PACING_PERCENT),
        "net.ipv4.tcp_ecn": "1" if scenario.ecn else "0",
        # A socket born under BBR keeps BBR's pacing timers when iperf3 chooses another sender for it.
        "net.ipv4.tcp_congestion_control": "reno",
        # What a run leaves unsent must not hold the kernel's TCP memory for minutes after its end.
        "net.ipv4.tcp_orphan_retries": "1",
        "net.ipv6.conf.all.disable_ipv6": "1",
    }


def token_bucket(scenario: Scenario, device: DeviceLimit) -> dict[str, int]:
    """A sender's own device that is slower than the path."""
    burst = max(MIN_BURST_BYTES, int(device.rate_bps / 8 * BURST_S))
    limit = max(burst, scenario.limit_bytes(device.queue, device.rate_bps))
    return {"rate_bps": device.rate_bps, "burst_bytes": burst, "limit_bytes": limit}


def device_limit(scenario: Scenario, host: PlannedHost, senders: Mapping[str, Flow]) -> list[str]:
    """The command that makes a sender's own device the bottleneck; none for other hosts."""
    flow = senders.get(host.name)
    if flow is None or flow.device is None:
        return []
    bucket = token_bucket(scenario, flow.device)
    rate, burst, limit = bucket["rate_bps"], bucket["burst_bytes"], bucket["limit_bytes"]
    return [f"tc qdisc replace dev {host.device} root tbf rate {rate}bit burst {burst} limit {limit}"]


def without_sack(host: PlannedHost, senders: Mapping[str, Flow]) -> list[str]:
    """The command that keeps a sender's host from negotiating SACK; none for other hosts."""
    flow = senders.get(host.name)
    return [] if flow is None or flow.algorithm.sack else ["sysctl -qw net.ipv4.tcp_sack=0"]


def default_sender(scenario: Scenario, host: PlannedHost, device: str) -> list[str]:
    """The command that sets what programs send with through a device if they choose no congestion control:
    applications, and proxies towards them. Those of Clarion's are set with its shim. It goes with the route:
    as the namespace's default the kernel takes only what the whole machine allows to everybody.
    """
    pair = int(host.name[1:]) - 1
    flow = next((flow for flow in scenario.flows if flow.pair == pair), None)
    if flow is None or flow.udp is not None or flow.algorithm.needs_agent:
        return []
    if flow.application is None and scenario.proxy is None:
        return []
    route = f"$(ip -4 route show dev {device})"
    return [f"ip route change {route} dev {device} congctl {flow.algorithm.kernel}"]


def receive_steering(device: str, switch_cpu: int | None) -> list[str]:
    """The command that keeps what a host receives off the CPU that the switch is bound to. Mininet's hosts
    have a /sys of their own; kernels without packet steering (CONFIG_RPS) lack the file, and do without.
    """
    if switch_cpu is None:
        return []
    file = f"/sys/class/net/{device}/queues/rx-0/rps_cpus"
    return [f"if [ -w {file} ]; then echo {cpus.mask_without(switch_cpu)} >{file}; fi"]


def script(
    scenario: Scenario,
    host: PlannedHost,
    neighbour: PlannedHost,
    senders: Mapping[str, Flow],
    switch_cpu: int | None,
) -> str:
    """A shell script that tunes one host; it stops at the first command that fails."""
    device = host.device
    offloads = " ".join(f"{name} off" for name in OFFLOADS_OFF)
    settings = " ".join(shlex.quote(f"{name}={value}") for name, value in sysctls(scenario).items())
    return "\n".join(
        [
            "set -e",
            f"ethtool -K {device} {offloads} >/dev/null",
            f"sysctl -qw {settings}",
            f"ip neigh replace {neighbour.address} lladdr {neighbour.mac} dev {device} nud permanent",
            *without_sack(host, senders),
            *default_sender(scenario, host, device),
            *receive_steering(device, switch_cpu),
            *device_limit(scenario, host, senders),
        ]
    )


def described(scenario: Scenario, switch_cpu: int | None) -> dict[str, Any]:
    """The tuning as the summary records it."""
    return {
        "sysctls": sysctls(scenario),
        "offloads_off": list(OFFLOADS_OFF),
        "buffer_bytes": buffer_bytes(scenario) if scenario.tuned else None,
        "switch_cpu": switch_cpu,
    }
