# SPDX-License-Identifier: Apache-2.0
"""The proxies of a run: a client where connections come from, a server where they go to, with keys of the
run's own; what they take of the machine, and what they say of themselves.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clarion_base import paths, processes
from clarion_base.errors import RunFailedError
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.proxy import PORT, ProxySettings
from clarion_lab.scenario.topology import Carrier, Network, PlannedHost

PROGRAM = "clarion-proxy"
READY = "clarion-proxy ready"
READY_S = 20.0  # beside round trips
READY_ROUND_TRIPS = 10
STATUS_S = 5.0  # for an answer
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
BYTES_PER_GB = 1_000_000_000


@dataclass(frozen=True)
class Usage:
    """What a process has taken so far."""

    user_s: float
    system_s: float
    rss_bytes: int
    peak_rss_bytes: int


@dataclass
class Proxy:
    """One end of a pair, running."""

    name: str
    role: str
    host: PlannedHost
    pair: Carrier
    control: Path
    log: Path
    child: subprocess.Popen[bytes]
    first: Usage | None = None  # when the run began
    last: Usage | None = None
    samples: list[dict[str, float]] = field(default_factory=list)


def usage(pid: int) -> Usage | None:
    """Of a process; None if there is none any more."""
    try:
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    sizes = {line.split(":")[0]: line.split()[1] for line in status if line.startswith("Vm")}
    rss, peak = (int(sizes.get(key, 0)) * 1024 for key in ("VmRSS", "VmHWM"))
    user, system = (int(ticks) / TICKS_PER_S for ticks in times)
    return Usage(user, system, rss, peak)


def server_name(pair: Carrier) -> str:
    """Its certificate's name; a host may be the server of one other host only, and the client of one."""
    return f"{pair.server.name}-server"


def client_name(pair: Carrier) -> str:
    """The same of the client."""
    return f"{pair.client.name}-client"


def server_arguments(pair: Carrier, settings: ProxySettings, keys: Path, control: Path) -> list[str]:
    """The command line of the end where connections are made again."""
    served = f"{pair.server.address}/32:*"
    return [
        "server",
        *("--listen", f"{pair.server.address}:{PORT}"),
        *("--keys", str(keys), "--name", server_name(pair)),
        *("--allow", served),
        *(("--early", served) if settings.early else ()),
        *settings.options(),
        *("--control", str(control)),
    ]


def client_arguments(pair: Carrier, settings: ProxySettings, keys: Path, control: Path) -> list[str]:
    """The command line of the end where connections are taken."""
    return [
        "client",
        *("--peer", f"{pair.server.address}:{PORT}", "--peer-name", server_name(pair)),
        *("--keys", str(keys), "--name", client_name(pair)),
        *("--transparent", "local", "--take", f"{pair.server.address}/32:*"),
        *settings.options(),
        *("--control", str(control)),
    ]


class Proxies:
    """All pairs of a run; none where the scenario has none."""

    def __init__(
        self, scenario: Scenario, network: Network, state: RunState, pids: Mapping[str, int], directory: Path
    ) -> None:
        self._scenario = scenario
        self._pairs = network.carriers
        self._state = state
        self._pids = pids
        self._directory = directory
        self._running: list[Proxy] = []
        self._began_s = 0.0
        self.commands: list[str] = []

    def start(self) -> None:
        """Makes keys, starts the servers, then the clients, and waits until all are ready. RunFailedError in
        the words of one that is not.
        """
        if self._scenario.proxy is None:
            return
        self._state.proxies()
        keys = self._state.directory / "keys"
        self._make_keys(keys)
        for pair in self._pairs:
            control = self._control(server_name(pair))
            arguments = server_arguments(pair, self._scenario.proxy, keys, control)
            self._spawn(server_name(pair), "server", pair.server, pair, arguments)
        self._await_ready()
        for pair in self._pairs:
            control = self._control(client_name(pair))
            arguments = client_arguments(pair, self._scenario.proxy, keys, control)
            self._spawn(client_name(pair), "client", pair.client, pair, arguments)
        self._await_ready()

    def begin(self) -> None:
        """The run begins: what they take is counted from here on."""
        self._began_s = time.monotonic()
        for proxy in self._running:
            proxy.first = proxy.last = usage(proxy.child.pid)

    def sample(self, now_us: int) -> None:
        """Notes what each has taken; RunFailedError if one has died."""
        for proxy in self._running:
            if proxy.child.poll() is not None:
                raise processes.ended(proxy.child, f"{PROGRAM} {proxy.name}", proxy.log)
            taken = usage(proxy.child.pid)
            if taken is None or proxy.first is None:
                continue
            proxy.last = taken
            cpu_s = taken.user_s + taken.system_s - proxy.first.user_s - proxy.first.system_s
            row = {"at_s": now_us / 1e6, "cpu_s": round(cpu_s, 3), "rss_bytes": taken.rss_bytes}
            if not proxy.samples or row["at_s"] - proxy.samples[-1]["at_s"] >= 1:
                proxy.samples.append(row)

    def stop(self) -> None:
        """Ends all, clients first, so that no connection is opened that nobody makes again."""
        running, self._running = self._running, []
        processes.stop([proxy.child for proxy in running if proxy.role == "client"])
        processes.stop([proxy.child for proxy in running if proxy.role == "server"])

    def results(self, delivered: Mapping[int, int]) -> list[dict[str, Any]]:
        """One entry for each, while they still run; `delivered` are the bytes that arrived, by flow."""
        elapsed_s = time.monotonic() - self._began_s
        return [self._result(proxy, delivered, elapsed_s) for proxy in self._running]

    def _result(self, proxy: Proxy, delivered: Mapping[int, int], elapsed_s: float) -> dict[str, Any]:
        now = usage(proxy.child.pid) or proxy.last or Usage(0.0, 0.0, 0, 0)
        first = proxy.first or Usage(0.0, 0.0, 0, 0)
        user_s, system_s = now.user_s - first.user_s, now.system_s - first.system_s
        carried = sum(delivered.get(number, 0) for number in proxy.pair.flows)
        settings = self._scenario.proxy
        assert settings is not None
        return {
            "host": proxy.host.name,
            "role": proxy.role,
            "law": settings.law,
            "params": dict(settings.parameters),
            "header": settings.header,
            "flows": [number + 1 for number in proxy.pair.flows],
            "seconds": elapsed_s,
            "cpu_user_s": user_s,
            "cpu_system_s": system_s,
            "cpu_s": user_s + system_s,
            "cpu_share": (user_s + system_s) / elapsed_s if elapsed_s > 0 else None,
            "carried_bytes": carried,
            "cpu_s_per_gbyte": (user_s + system_s) * BYTES_PER_GB / carried if carried else None,
            "peak_rss_bytes": now.peak_rss_bytes,
            "over_time": proxy.samples,
            "status": status(proxy.control),
        }

    def _control(self, name: str) -> Path:
        return self._state.directory / f"{name}.sock"

    def _make_keys(self, keys: Path) -> None:
        program = paths.binary(PROGRAM)
        keys.mkdir(mode=0o700)
        names = sorted({name(pair) for pair in self._pairs for name in (server_name, client_name)})
        for arguments in (["init"], *(["issue", name] for name in names)):
            processes.run_all(
                [(f"{PROGRAM} keys", [program, "keys", *arguments, "--dir", str(keys)])], timeout_s=30
            )

    def _spawn(self, name: str, role: str, host: PlannedHost, pair: Carrier, arguments: list[str]) -> None:
        log = self._directory / f"proxy-{name}.log"
        # The shim's maps are among the machine's files.
        command = processes.in_network(self._pids[host.name], [paths.binary(PROGRAM), *arguments])
        with log.open("wb") as output:
            child = children.spawn(self._state, f"{PROGRAM} {name}", command, stdout=output, stderr=output)
        self._running.append(Proxy(name, role, host, pair, self._control(name), log, child))
        self.commands.append(f"{host.name}: {PROGRAM} {' '.join(arguments)}")

    def _await_ready(self) -> None:
        wait_s = READY_S + READY_ROUND_TRIPS * self._scenario.max_rtt_us / 1e6
        deadline_s = time.monotonic() + wait_s
        for proxy in self._running:
            while READY not in proxy.log.read_text(errors="replace"):
                if proxy.child.poll() is not None:
                    raise processes.ended(proxy.child, f"{PROGRAM} {proxy.name}", proxy.log)
                if time.monotonic() > deadline_s:
                    raise RunFailedError(
                        f"{PROGRAM} {proxy.name}: not ready after {wait_s:g} s; see {proxy.log}"
                    )
                time.sleep(0.02)


def status(control: Path) -> dict[str, Any]:
    """What a proxy says of itself, or why it does not."""
    command = [paths.binary(PROGRAM), "status", "--control", str(control), "--json"]
    with contextlib.suppress(OSError, subprocess.TimeoutExpired, ValueError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=STATUS_S, check=False)
        if done.returncode != 0:
            return {"error": processes.last_line(done.stderr) or f"status {done.returncode}"}
        said = json.loads(done.stdout)
        if isinstance(said, dict):
            return said
    return {"error": "no answer"}
