# SPDX-License-Identifier: Apache-2.0
"""Two controllers on one PostgreSQL, with faults at random moments under writes.

    python -m integration.ha --faults 200 --seed 1 [--json FILE]     (root; from tests/)

Kills, stopped clocks and partitions hit controllers, database and agent while clients change ports through
both controllers. After each fault the database, the switches (read over P4Runtime from here) and the clients'
answers must agree, and both controllers must name the same primary.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from integration import ha_net
from integration.controller_net import Api, Json, create_token, settings_on
from integration.ha_clients import STEP_BPS, Client, Ledger
from integration.ha_faults import Victims, faults
from integration.ha_net import Agent, Controller, Database, Net
from integration.ha_trace import Trace
from integration.waiting import wait_until

CONVERGE_S = 60.0
CALM_S = 5.0
FIRST_BPS = 1_000_000
SWITCHES = {"s1": 1, "s2": 2}
PORTS = (1, 2)


@dataclass
class Outcome:
    """Counts of the trial; `clean` is the verdict."""

    faults: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    unanswered: int = 0
    lost: int = 0  # acknowledged changes that are not in the audit, or not in what is desired
    overwritten: int = 0  # changes made on top of something else than the client had read
    twice: int = 0
    differing: int = 0  # ports at which database and switch differed
    misnamed: int = 0  # switches whose primary the controllers did not agree on
    strangers: int = 0
    older: int = 0
    writes: int = 0
    take_overs: int = 0
    alone_s: dict[str, list[float]] = field(default_factory=dict)  # longest without a primary, as above
    slowest_answer_s: float = 0.0
    refused_s: dict[str, list[float]] = field(default_factory=dict)  # per fault of each kind
    converged_s: list[float] = field(default_factory=list)  # after the fault was over
    notes: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, overwritten or out of order, and the leader was known."""
        changes = self.lost + self.overwritten + self.twice + self.differing
        return not (changes or self.misnamed or self.strangers or self.older)


class Trial:
    """The machines with all processes, and the clients."""

    def __init__(self, net: Net, directory: Path, tell: Callable[[str], None]) -> None:
        self.net = net
        self.outcome = Outcome()
        self._tell = tell
        self.database = Database(net)
        self.controllers = {name: Controller(net, directory, name, at) for name, at in (("a", 2), ("b", 1))}
        self.agent = Agent(net, directory, _config(directory))
        self._ledgers = [Ledger(switch, port) for switch in SWITCHES for port in PORTS]
        self._clients: list[Client] = []
        self._trace = Trace()
        self._apis: dict[str, Api] = {}
        self._last_audit = 0
        self._versions: dict[tuple[str, int], tuple[int, int]] = {}

    def start(self) -> None:
        """Starts everything, adds the switches, gives the ports their first capacity."""
        self.database.start()
        self.agent.start()
        for controller in self.controllers.values():
            controller.start()
        token = create_token(Database.url, "trial")
        addresses = {name: each.address for name, each in self.controllers.items()}
        self._apis = {name: Api(f"http://{address}", token) for name, address in addresses.items()}
        for name, device in SWITCHES.items():
            self._apis["a"].add(name, Agent.address, device, PORTS)
        self._converge()
        for ledger in self._ledgers:
            path = f"/v1/switches/{ledger.switch}/ports/{ledger.port}"
            body = {"xcp": {"capacity_bps": FIRST_BPS}}
            statuses = {name: api.ask("PATCH", path, body)[0] for name, api in self._apis.items()}
            assert 200 in statuses.values(), statuses
            for order in (("a", "b"), ("b", "a")):
                self._clients.append(Client(ledger, [addresses[name] for name in order], token))
        self._compare()
        for client in self._clients:
            client.start()

    def stop(self) -> None:
        """Ends everything."""
        for client in self._clients:
            client.end()
        for controller in self.controllers.values():
            controller.stop()
        self.agent.stop()
        self.database.remove()

    def victims(self) -> Victims:
        """What faults hit now: the primary of the first switch is the one that counts."""
        leads = {name: self._states(name).get("s1") == "in-sync" for name in self.controllers}
        primary, backup = sorted(leads, key=lambda name: not leads[name])
        return Victims(self.controllers[primary], self.controllers[backup], self.database, self.agent)

    def suffer(self, kind: str, fault: Callable[[], None], before_s: float) -> None:
        """One fault under writes, and the comparison after it."""
        for ledger in self._ledgers:
            ledger.begin()
        for client in self._clients:
            client.resume()
        time.sleep(before_s)
        fault()
        self.net.heal()
        over = time.monotonic()
        self._converge()
        self.outcome.converged_s.append(time.monotonic() - over)
        time.sleep(before_s)
        for client in self._clients:
            client.hold()
        for client in self._clients:
            client.await_idle()
        refused_s = max(ledger.pause() for ledger in self._ledgers)
        self.outcome.refused_s.setdefault(kind, []).append(round(refused_s, 2))
        self.outcome.faults[kind] += 1
        self._converge()
        self._compare()
        self.outcome.alone_s.setdefault(kind, []).append(round(self._trace.alone_s, 2))

    def sum_up(self) -> Outcome:
        """The outcome so far."""
        outcome, trace = self.outcome, self._trace
        outcome.acknowledged = sum(len(ledger.acknowledged) for ledger in self._ledgers)
        outcome.unanswered = sum(ledger.unanswered for ledger in self._ledgers)
        outcome.twice = sum(ledger.twice for ledger in self._ledgers)
        outcome.slowest_answer_s = max(ledger.slowest_s for ledger in self._ledgers)
        outcome.strangers, outcome.older, outcome.writes = trace.strangers, trace.older, trace.writes
        outcome.take_overs = trace.take_overs
        return outcome

    def _states(self, name: str) -> dict[str, str]:
        return {each["name"]: each["status"]["state"] for each in self._switches(name)}

    def _switches(self, name: str) -> list[Any]:
        """What a controller says of all switches; nothing if it does not answer."""
        try:
            status, document = self._apis[name].ask("GET", "/v1/switches")
        except (OSError, http.client.HTTPException):
            return []
        return document["items"] if status == 200 else []

    def _converge(self) -> None:
        """Until each switch has one primary, in sync, and the other controller as its backup."""

        def settled() -> bool:
            states = [self._states(name) for name in self.controllers]
            return all(sorted(each.get(s, "") for each in states) == ["backup", "in-sync"] for s in SWITCHES)

        wait_until(settled, "one primary and one backup at each switch", CONVERGE_S)

    def _compare(self) -> None:
        """Counts every difference between clients, database and switches."""
        with psycopg.connect(Database.url, connect_timeout=5) as connection:
            self._follow_audit(connection)
            desired = connection.execute(
                "SELECT name, port, version, settings FROM desired_ports JOIN switches"
                " ON uid = switch_uid ORDER BY name, port"
            ).fetchall()
        for ledger, (name, port, version, settings) in zip(self._ledgers, desired, strict=True):
            assert (ledger.switch, ledger.port) == (name, port)
            capacity_bps = settings["xcp"]["capacity_bps"]
            if self._versions[name, port] != (version, capacity_bps):
                self._note(
                    "lost", f"{name} port {port}: desired {version}, audit {self._versions[name, port]}"
                )
            if any(acknowledged > version for acknowledged in ledger.acknowledged):
                self._note("lost", f"{name} port {port}: acknowledged beyond version {version}")
            if not _holds(lambda p=port, n=name, c=capacity_bps: _capacity(n, p) == c):  # type: ignore[misc]
                self._note("differing", f"{name} port {port}: {_capacity(name, port)}, not {capacity_bps}")
        for name in SWITCHES:
            if not _holds(lambda name=name: self._is_named(name)):  # type: ignore[misc]
                self._note("misnamed", f"{name}: {[self._named(name, each) for each in self.controllers]}")
        self._trace.read(self.agent.trace)

    def _follow_audit(self, connection: psycopg.Connection[Any]) -> None:
        """Each version is one step above the one before, and what was acknowledged is there."""
        records = connection.execute(
            "SELECT id, switch, port, after FROM audit WHERE id > %s AND action = 'port.change' ORDER BY id",
            [self._last_audit],
        ).fetchall()
        ledgers = {(each.switch, each.port): each for each in self._ledgers}
        for number, name, port, after in records:
            self._last_audit = number
            if after["xcp"] is None:  # adopted
                continue
            version, capacity_bps = after["version"], after["xcp"]["capacity_bps"]
            last = self._versions.get((name, port), (version - 1, FIRST_BPS - STEP_BPS))
            if (version, capacity_bps) != (last[0] + 1, last[1] + STEP_BPS):
                self._note("overwritten", f"{name} port {port}: {last}, then {version, capacity_bps}")
            if ledgers[name, port].acknowledged.get(version, capacity_bps) != capacity_bps:
                self._note("lost", f"{name} port {port}: version {version} is another's")
            self._versions[name, port] = version, capacity_bps

    def _is_named(self, switch: str) -> bool:
        said = {self._named(switch, name) for name in self.controllers}
        return said == {next((n for n in self.controllers if self._states(n).get(switch) == "in-sync"), "")}

    def _named(self, switch: str, name: str) -> str | None:
        return next((each["primary"] for each in self._switches(name) if each["name"] == switch), None)

    def _note(self, what: str, sentence: str) -> None:
        setattr(self.outcome, what, getattr(self.outcome, what) + 1)
        self.outcome.notes.append(f"{what}: {sentence}")
        self._tell(f"{what}: {sentence}")


def run(
    count: int,
    seed: int,
    tell: Callable[[str], None] = print,
    only: Sequence[str] = (),
    keep: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Lets two controllers suffer; `only`: these kinds of faults, in turn; `keep` gets the outcome
    after each. Needs root and PostgreSQL.
    """
    rng = random.Random(seed)
    with (
        tempfile.TemporaryDirectory() as name,
        ha_net.network() as net,
        running(net, Path(name), tell) as trial,
    ):
        for number in range(1, count + 1):
            kinds = faults(trial.net, trial.victims(), rng)
            kind = only[(number - 1) % len(only)] if only else rng.choice(list(kinds))
            before_s = rng.uniform(0.2, 1.0)
            trial.suffer(kind, kinds[kind], before_s)
            outcome = trial.sum_up()
            keep(outcome)
            tell(
                f"{number:4} {kind}: refused {outcome.refused_s[kind][-1]} s, no primary"
                f" {outcome.alone_s[kind][-1]} s, converged {outcome.converged_s[-1]:.1f} s,"
                f" {outcome.acknowledged} changes"
            )
        return trial.sum_up()


@contextlib.contextmanager
def running(net: Net, directory: Path, tell: Callable[[str], None]) -> Iterator[Trial]:
    """A trial, ended in any case; the logs of a failed one are shown."""
    trial = Trial(net, directory, tell)
    try:
        trial.start()
        yield trial
    except BaseException:
        for controller in trial.controllers.values():
            if controller.log.exists():
                tell(f"{controller.log.name}: {controller.log.read_text()[-3000:]}")
        raise
    finally:
        trial.stop()


def figures(outcome: Outcome) -> Json:
    """The outcome as JSON."""
    return {**asdict(outcome), "faults": dict(outcome.faults), "clean": outcome.clean}


def _config(directory: Path) -> Path:
    path = directory / "switches.json"
    ports = [("a", "b"), ("b", "a")]
    described = [
        {
            "name": name,
            "ports": [
                {"name": here, "peer": f"{name}:{there}", "rate_bps": 100_000_000} for here, there in ports
            ],
        }
        for name in SWITCHES
    ]
    path.write_text(json.dumps({"switches": described}))
    return path


def _holds(condition: Callable[[], bool]) -> bool:
    """Whether the condition holds now or soon."""
    with contextlib.suppress(AssertionError):
        wait_until(condition, seconds=CALM_S)
        return True
    return False


def _capacity(switch: str, port: int) -> int | None:
    found = settings_on(Agent.address, SWITCHES[switch], [port]).get(port)
    return None if found is None or found.xcp is None else found.xcp.capacity_bps


def main() -> int:
    """The trial on the command line; 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="integration.ha", description=__doc__)
    parser.add_argument("--faults", type=int, default=200, help="(default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the faults (default: 1)")
    parser.add_argument("--only", action="append", default=[], metavar="KIND", help="these kinds, in turn")
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()

    def keep(outcome: Outcome) -> None:
        if options.json is not None:
            options.json.write_text(json.dumps(figures(outcome), indent=1) + "\n")

    outcome = run(
        options.faults, options.seed, lambda line: print(f"  {line}", flush=True), options.only, keep
    )
    print(f"  {'clean' if outcome.clean else 'NOT CLEAN'}: {figures(outcome)}")
    return 0 if outcome.clean else 1


if __name__ == "__main__":
    sys.exit(main())
