# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the embedded switch: kernel TCP over an emulated link, and the delay it adds to a packet.

    python -m tests.bench.bench_switch [--json FILE] [--runs 5]      (root)

Throughput: one Reno flow over 1 Gbit/s and 50 ms, both ends on this machine, as a fraction of the payload
ceiling 1000 * 1448 / 1514 = 956.4 Mbit/s, measured after start-up. Reno, because a paced sender sets a
timer per packet, and timers are expensive on virtual machines. Latency: between the kernel's time stamps of
a frame leaving one host's device and reaching the other's, at 500 frames/s; it includes all work of the
switch, but not the wake-ups of the hosts' programs.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import need_root, parser, summary, text, write
from integration.switch_net import Host, Json, Network, inside, one_switch, run, switch

LINK_BPS = 1_000_000_000
CEILING_BPS = LINK_BPS * 1448 / 1514
DELAY_US = 25_000  # each way
QUEUE_BYTES = 6_250_000  # one bandwidth-delay product, which Reno needs
GOAL_PERCENT = ("at least", 97.0)  # of the ceiling
GOAL_P99_US = ("at most", 200.0)  # added to a packet at light load
PROBES = 1000
WARM_UP = 10  # the first probes wait for neighbour discovery
PROBE = b"clarion-switch delay probe".ljust(60)
PROBE_AT = 14 + 20 + 8  # behind Ethernet, IPv4 and UDP
PROBE_PORT = 7
PROBE_INTERVAL_S = 0.002
ETH_P_ALL = 3
SO_TIMESTAMPNS = 35


def schedstat_ns(pid: int) -> int:
    """Processor time of a process."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def throughput_run(network: Network, directory: Path) -> Json:
    """One iperf3 flow: goodput, and the switch's share of one processor in the same seconds."""
    near, far = network.hosts
    document = one_switch(
        {"delay_us": DELAY_US}, {"rate_bps": LINK_BPS, "queue_bytes": QUEUE_BYTES, "delay_us": DELAY_US}
    )
    with switch(directory, document) as running:
        serve = ["ip", "netns", "exec", far.netns, "iperf3", "-s", "-1"]
        server = subprocess.Popen(serve, stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        shares: list[float] = []
        pid = running.process.pid
        meter = threading.Timer(5, lambda: shares.append(processor_share(pid, 4)))
        meter.start()
        result = json.loads(near.inside("iperf3", "-c", far.ipv4, "-t", "5", "-O", "4", "-J"))
        meter.join()
        server.wait(timeout=10)
        ports = running.ports()
    goodput_bps = result["end"]["sum_received"]["bits_per_second"]
    return {
        "goodput_bps": goodput_bps,
        "fraction": goodput_bps / CEILING_BPS,
        "cpu_share": shares[0],
        "rx_kernel_drops": sum(port["rx_kernel_drops"] for port in ports.values()),
    }


def processor_share(pid: int, seconds: float) -> float:
    """Share of one processor that a process uses from now on."""
    start_ns, start = schedstat_ns(pid), time.monotonic()
    time.sleep(seconds)
    return (schedstat_ns(pid) - start_ns) / 1e9 / (time.monotonic() - start)


def stamping(host: Host) -> socket.socket:
    """A socket that captures every IPv4 frame on the host's device, both ways, with kernel time stamps."""
    with inside(host.netns):
        made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    made.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    made.bind(("eth0", ETH_P_ALL))
    made.setblocking(False)
    return made


def probe_times_ns(noting: socket.socket) -> dict[int, int]:
    """When each numbered probe passed the device."""
    times = {}
    with suppress(BlockingIOError):
        while True:
            frame, ancillary, _, _ = noting.recvmsg(256, 64)
            if frame[PROBE_AT : PROBE_AT + len(PROBE)] == PROBE:
                seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
                times[int.from_bytes(frame[-4:], "big")] = seconds * 1_000_000_000 + nanoseconds
    return times


def latency_run(network: Network, directory: Path) -> Json:
    """Delay of frames on their way from one host's device to the other's."""
    near, far = network.hosts
    with (
        switch(directory, one_switch({}, {})),
        stamping(near) as leaving,
        stamping(far) as arriving,
        near.udp(socket.AF_INET) as sending,
        far.udp(socket.AF_INET, PROBE_PORT),
    ):
        for number in range(PROBES + WARM_UP):
            sending.sendto(PROBE + number.to_bytes(4, "big"), (far.ipv4, PROBE_PORT))
            time.sleep(PROBE_INTERVAL_S)
        left, came = probe_times_ns(leaving), probe_times_ns(arriving)
    added_us = sorted((came[n] - left[n]) / 1000 for n in range(WARM_UP, WARM_UP + PROBES))
    return {"added_p50_us": added_us[PROBES // 2], "added_p99_us": added_us[PROBES * 99 // 100]}


def measure(count: int) -> Json:
    """All runs on one set of namespaces; the TCP hosts have the usual MTU."""
    network = Network(2)
    try:
        for host in network.hosts:
            run("ip", "-n", host.netns, "link", "set", "eth0", "mtu", "1500")
            with inside(host.netns), suppress(OSError):
                Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
        with tempfile.TemporaryDirectory() as directory:
            throughput = [throughput_run(network, Path(directory)) for _ in range(count)]
            latency = [latency_run(network, Path(directory)) for _ in range(count)]
    finally:
        network.close()
    return {
        "runs": count,
        "link_bps": LINK_BPS,
        "rtt_us": 2 * DELAY_US,
        "processors": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "goals": {"fraction": GOAL_PERCENT[1] / 100, "added_p99_us": GOAL_P99_US[1]},
        "throughput": summary(throughput),
        "latency": summary(latency),
    }


def main() -> int:
    """Prints the table; writes the JSON."""
    given = parser("throughput and latency of clarion-switch", 5).parse_args()
    need_root("bench_switch")
    result = measure(given.runs)
    throughput, latency = result["throughput"], result["latency"]
    print(f"embedded switch, median of {given.runs} runs (least .. most)")
    print(text("TCP over 1 Gbit/s x 50 ms, of the ceiling", throughput["fraction"], 100, "%", GOAL_PERCENT))
    print(text("processor used by the switch, of one", throughput["cpu_share"], 100, "%"))
    print(text("frames lost in receive rings", throughput["rx_kernel_drops"], 1, ""))
    print(text("added delay at light load, p50", latency["added_p50_us"], 1, "us"))
    print(text("added delay at light load, p99", latency["added_p99_us"], 1, "us", GOAL_P99_US))
    write(given.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
