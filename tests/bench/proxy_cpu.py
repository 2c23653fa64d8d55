# SPDX-License-Identifier: Apache-2.0
"""Processor time of clarion-proxy per Gbyte beside the bulk example of its QUIC library, over loopback.

    PATH=$PATH:NOQ/target/release .venv/bin/python tests/bench/proxy_cpu.py --json out/proxy-cpu.json

As root, for a network namespace whose loopback has the MTU of Ethernet. `bulk` is of noq's repository, in
the version that hosts/proxy has: `cargo build --release -p bench`; it makes what it sends, has one thread
for each end, and AES-128, for with AES-256 it does not start; the proxies have AES-256, and also read and
write TCP, of two programs in this process that are not counted. All have one stream and acknowledge every
tenth packet. Repeats are interleaved, so that what else the machine does meets all alike.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.figures import Json, need_root, parser, summary, text, write
from bench.proxy_pair import Pair, Place, namespaces, upload
from bench.quantities import TICK, processor_s
from integration.switch_net import run

BULK = "bulk"
EXAMPLE = "noq's bulk"
LAWS = ("cubic", "bbr")
ETHERNET_MTU_BYTES = 1500
DATAGRAM_BYTES = ETHERNET_MTU_BYTES - 40 - 8  # over IPv6, which bulk takes
POLL_S = 0.01
PATIENCE_S = 120
PRELOAD = Path(__file__).with_name("no_gso.c")


@dataclass(frozen=True)
class Stage:
    """What all runs share."""

    netns: str
    directory: Path
    size_bytes: int


def proxy_run(stage: Stage, law: str) -> dict[str, float]:
    """Seconds of both proxies while a pair with this law carries the bytes."""
    here = Place(stage.netns, "::1")
    with Pair(here, here, stage.directory, ["--law", law, "--header", "off"]) as pair:
        ends = {"sending": pair.client.process.pid, "receiving": pair.server.process.pid}
        before_s = {end: processor_s(pid) for end, pid in ends.items()}
        began_s = time.monotonic()
        upload(pair, stage.size_bytes)
        took_s = time.monotonic() - began_s
        spent_s = {end: processor_s(pid) - before_s[end] for end, pid in ends.items()}
    return figures(spent_s["sending"], spent_s["receiving"], took_s, stage.size_bytes)


def bulk_run(stage: Stage) -> dict[str, float]:
    """Seconds of the two threads of noq's example while it uploads the bytes."""
    command = ["ip", "netns", "exec", stage.netns, BULK, "--upload-size", str(stage.size_bytes)]
    command += ["--download-size", "0", "--initial-mtu", str(DATAGRAM_BYTES)]
    command += ["--runtime-type", "tokio-current-thread"]
    began_s = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    threads_s: dict[int, float] = {}
    while process.poll() is None:
        if time.monotonic() - began_s > PATIENCE_S:
            process.kill()
        threads_s |= dict(thread_times_s(process.pid))
        time.sleep(POLL_S)
    if process.returncode:
        raise AssertionError(f"{BULK}: exit status {process.returncode}")
    receiving_s, sending_s = (threads_s[thread] for thread in sorted(threads_s)[1:3])  # as it starts them
    return figures(sending_s, receiving_s, time.monotonic() - began_s, stage.size_bytes)


def thread_times_s(pid: int) -> Iterator[tuple[int, float]]:
    """Processor time of each thread of a process, as long as it lives."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            yield int(task.name), (int(fields[11]) + int(fields[12])) / TICK


def figures(sending_s: float, receiving_s: float, took_s: float, size_bytes: int) -> dict[str, float]:
    """Per Gbyte (10^9) of what was carried."""
    gbytes = size_bytes / 1e9
    return {
        "sending_s_per_gbyte": sending_s / gbytes,
        "receiving_s_per_gbyte": receiving_s / gbytes,
        "both_s_per_gbyte": (sending_s + receiving_s) / gbytes,
        "mbit_per_s": 8e-6 * size_bytes / took_s,
    }


@contextlib.contextmanager
def without_gso(directory: Path) -> Iterator[None]:
    """Programs that are started meanwhile find a kernel that has no UDP segmentation offload."""
    library = directory / "no_gso.so"
    run("cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(PRELOAD))
    os.environ["LD_PRELOAD"] = str(library)
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"]


def contenders() -> dict[str, Callable[[Stage], dict[str, float]]]:
    """Those that there are on this machine."""

    def proxy(law: str) -> Callable[[Stage], dict[str, float]]:
        return lambda stage: proxy_run(stage, law)

    found = {f"proxy, {law}": proxy(law) for law in LAWS}
    if shutil.which(BULK):
        found[EXAMPLE] = bulk_run
    else:
        print(f"proxy_cpu: {BULK} skipped: not on PATH; cargo build --release -p bench in noq's repository")
    return found


def measure(count: int, size_bytes: int) -> Json:
    """All runs, with the offload and without."""
    runs: dict[str, list[dict[str, float]]] = {}
    with namespaces("lo") as (netns,), tempfile.TemporaryDirectory() as directory:
        run("ip", "-n", netns, "link", "set", "lo", "mtu", str(ETHERNET_MTU_BYTES))
        stage = Stage(netns, Path(directory), size_bytes)
        for _ in range(count):
            for name, contender in contenders().items():
                runs.setdefault(f"{name}, GSO", []).append(contender(stage))
                with without_gso(stage.directory):
                    runs.setdefault(f"{name}, one by one", []).append(contender(stage))
    return {
        "runs": count,
        "size_bytes": size_bytes,
        "processors": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "each": runs,
        "figures": {name: summary(each) for name, each in runs.items()},
        "ratios": ratios(runs),
    }


def ratios(runs: Mapping[str, Sequence[Mapping[str, float]]]) -> Json:
    """Both proxies over both threads of noq's example, in the same repeat and with the same offload."""
    found = {}
    for name, each in runs.items():
        base = runs.get(f"{EXAMPLE}, {name.rpartition(', ')[2]}", ())
        if base and not name.startswith(EXAMPLE):
            pairs = zip(each, base, strict=True)
            found[name] = [mine["both_s_per_gbyte"] / theirs["both_s_per_gbyte"] for mine, theirs in pairs]
    return {name: summary([{"ratio": ratio} for ratio in each])["ratio"] for name, each in found.items()}


def main() -> int:
    """Prints the table; writes the JSON."""
    options = parser(__doc__, 5)
    options.add_argument(
        "--mbytes", type=int, default=512, help="carried in each run, 10^6 bytes (default 512)"
    )
    given = options.parse_args()
    need_root("proxy_cpu")
    result = measure(given.runs, given.mbytes * 1_000_000)
    print(f"median of {given.runs} runs (least .. most) of {given.mbytes} MB")
    for name, each in result["figures"].items():
        print(text(f"{name}: sending", each["sending_s_per_gbyte"], 1, "s/GB"))
        print(text(f"{name}: receiving", each["receiving_s_per_gbyte"], 1, "s/GB"))
        print(text(f"{name}: both", each["both_s_per_gbyte"], 1, "s/GB"))
        print(text(f"{name}: goodput", each["mbit_per_s"], 1, "Mbit/s"))
    for name, ratio in result["ratios"].items():
        print(text(f"{name}: both, to {EXAMPLE}'s", ratio, 100, "%"))
    write(given.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
