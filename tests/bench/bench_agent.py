# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the P4Runtime agent: many embedded switches in one process, without devices.

    python -m tests.bench.bench_agent [--json FILE] [--runs 3] [--switches 1,10,100]

Start: from the command to the agent's first line, including the start of clarion-switch. Memory: resident,
with a primary, entries and a stream of reports on every switch. Write: from the client's call to its reply,
which comes when the entry is in force; a MODIFY of alpha, alone or ten in a batch, on one switch after
another. Reports: ten interval reports/s from each switch during the writes, and the agent's processor time
for them.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from finsy.proto import p4r

from bench.figures import Json, parser, summary, text, write
from fakes.p4runtime_messages import XCP, digest, insert, modify, table_entry
from integration.agent_net import MAC, AgentProcess, Client, SwitchProcess, end, ethernet

WRITES = 1000
BATCHES = 200
REPORTS_PER_S = 10
GOAL_P99_MS = ("at most", 50.0)


def document(switches: int) -> Json:
    """Switches with two ports each, and one more switch behind each port, which drops the frames."""
    made: list[Json] = []
    for number in range(switches):
        ports = [
            {"name": "a", "peer": f"a{number}:a", "rate_bps": 100_000_000},
            {"name": "b", "peer": f"b{number}:a"},
        ]
        made.append({"name": f"s{number}", "ports": ports})
    for number in range(switches):
        for port in ("a", "b"):
            ports = [{"name": "a", "peer": f"s{number}:{port}"}]
            made.append({"name": f"{port}{number}", "ports": ports})
    return {"switches": made}


def resident_mib(pid: int) -> float:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def processor_s(pid: int) -> float:
    """Processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Traffic(threading.Thread):
    """Sends frames into every switch, so that control intervals end: ten reports/s from each."""

    def __init__(self, control: Path, switches: int) -> None:
        super().__init__(daemon=True)
        self._control = control
        self._switches = switches
        self.stop = threading.Event()

    def run(self) -> None:
        """Sends until `stop` is set."""
        frame = ethernet(MAC, 100).hex()
        commands = [
            json.dumps({"cmd": "inject", "switch": f"s{n}", "frame": frame}).encode() + b"\n"
            for n in range(self._switches)
        ]
        with socket.socket(socket.AF_UNIX) as made:
            made.connect(str(self._control))
            with made.makefile("rb") as replies:
                due = time.monotonic()
                while not self.stop.is_set():
                    made.sendall(b"".join(commands))
                    for _ in commands:
                        replies.readline()
                    due += 1 / REPORTS_PER_S
                    self.stop.wait(max(0.0, due - time.monotonic()))


def prepared(client: Client) -> Client:
    """Make the client primary, with XCP on port 1 and a subscription to its interval reports."""
    client.primary()
    client.write(
        insert(table_entry("l2_forward", MAC, "forward", (1,))),
        insert(table_entry("xcp_port", 1, "set_xcp_port", (*XCP[:5], 13_421_773, 1))),  # 50 ms at most
        insert(digest("interval_report_t", size=64, timeout_ns=100_000_000)),
    )
    return client


def latencies_ms(clients: list[Client], count: int, entries: int) -> list[float]:
    """Sorted latencies of writes, each of `entries` updates."""
    times = []
    for number in range(count):
        arguments = (XCP[0], 20_000 + number % 1000, *XCP[2:5], 13_421_773, 1)
        updates = [modify(table_entry("xcp_port", 1, "set_xcp_port", arguments))] * entries
        start = time.perf_counter()
        clients[number % len(clients)].write(*updates)
        times.append((time.perf_counter() - start) * 1000)
    return sorted(times)


def drained(clients: list[Client]) -> int:
    """Number of reports received since the last call."""
    count = 0
    for client in clients:
        while not client.received.empty():
            message = client.received.get()
            if isinstance(message, p4r.StreamMessageResponse) and message.HasField("digest"):
                count += len(message.digest.data)
    return count


def measure(switches: int) -> Json:
    """The figures of one run."""
    with tempfile.TemporaryDirectory() as directory:
        start = time.monotonic()
        switch = SwitchProcess(Path(directory), document(switches))
        agent = AgentProcess("--control", str(switch.control))
        start_s = time.monotonic() - start
        clients = [prepared(Client(agent.address, device_id=number + 1)) for number in range(switches)]
        traffic = Traffic(switch.control, switches)
        traffic.start()
        try:
            time.sleep(1)
            drained(clients)
            cpu_s, from_s = processor_s(agent.process.pid), time.monotonic()
            time.sleep(4)
            elapsed_s = time.monotonic() - from_s
            cpu_share = (processor_s(agent.process.pid) - cpu_s) / elapsed_s
            reports = drained(clients)
            single, batch = latencies_ms(clients, WRITES, 1), latencies_ms(clients, BATCHES, 10)
            memory = {
                "switch_mib": resident_mib(switch.process.pid),
                "agent_mib": resident_mib(agent.process.pid),
            }
        finally:
            traffic.stop.set()
            traffic.join()
            for client in clients:
                client.close()
            end(agent.process)
            end(switch.process)
    return {
        "start_s": start_s,
        **memory,
        "reports_per_s": reports / elapsed_s,
        "agent_cpu_share": cpu_share,
        "write_p50_ms": single[len(single) // 2],
        "write_p99_ms": single[len(single) * 99 // 100],
        "batch_p50_ms": batch[len(batch) // 2],
        "batch_p99_ms": batch[len(batch) * 99 // 100],
    }


def main() -> int:
    """Prints the tables; writes the JSON."""
    options = parser("the P4Runtime agent with many switches", 3)
    options.add_argument("--switches", default="1,10,100", help="numbers of switches (default: 1,10,100)")
    given = options.parse_args()
    results = {}
    for count in map(int, given.switches.split(",")):
        figures = summary([measure(count) for _ in range(given.runs)])
        results[count] = figures
        print(f"P4Runtime agent, {count} switches, median of {given.runs} runs (least .. most)")
        print(text("start, clarion-switch included", figures["start_s"], 1, "s"))
        print(text("memory of clarion-switch", figures["switch_mib"], 1, "MiB"))
        print(text("memory of the agent", figures["agent_mib"], 1, "MiB"))
        print(text("reports delivered", figures["reports_per_s"], 1, "/s"))
        print(text("processor used by the agent for them, of one", figures["agent_cpu_share"], 100, "%"))
        print(text("write of one entry, p50", figures["write_p50_ms"], 1, "ms"))
        print(text("write of one entry, p99", figures["write_p99_ms"], 1, "ms", GOAL_P99_MS))
        print(text("batch of ten, p50", figures["batch_p50_ms"], 1, "ms"))
        print(text("batch of ten, p99", figures["batch_p99_ms"], 1, "ms"))
    write(given.json, {"runs": given.runs, "switches": results})
    return 0


if __name__ == "__main__":
    sys.exit(main())
