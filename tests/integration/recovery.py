# SPDX-License-Identifier: Apache-2.0
"""Kills a controller, the agent or the data plane at random moments under writes, and compares the state.

Writers change ports over REST, each a port of its own, each time to a new capacity. After every kill and
recovery the store, the switch and the answers to the writers must agree: an acknowledged change is there,
an unacknowledged one may be, and every version is in the audit once.
"""

from __future__ import annotations

import http.client
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from integration.controller_net import PATIENCE_S, Api, Embedded, Json, ServedController, settings_on
from integration.held_thread import HeldThread
from integration.waiting import wait_until

FIRST_BPS = 1_000_000
STEP_BPS = 8  # switches count whole bytes/s
LONGEST_S = 0.6  # of undisturbed writing before a kill


@dataclass
class Outcome:
    """Counts of the test; `clean` is the verdict."""

    kills: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    unanswered: int = 0
    lost: int = 0  # acknowledged changes that were gone: must be 0
    differing: int = 0  # ports at which store and switch differed: must be 0
    duplicated: int = 0  # ports with a version missing from the audit or in it twice: must be 0
    recovery_s: list[float] = field(default_factory=list)  # from the kill until all writers were served again

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, and nothing happened twice."""
        return not (self.lost or self.differing or self.duplicated)


class Writer(HeldThread):
    """Changes one port, the next change as soon as the last is answered."""

    def __init__(self, controller: ServedController, switch: str, port: int, first_bps: int) -> None:
        super().__init__()
        self.switch = switch
        self.port = port
        self.acknowledged = 0
        self.unanswered = 0
        self.candidates: set[int | None] = set()  # capacities that the port may have now
        self._controller = controller
        self._next_bps = first_bps

    def pause(self) -> None:
        """Stops writing; returns when no request is pending."""
        self.hold()
        self.await_idle()

    def work(self) -> None:
        self._next_bps += STEP_BPS
        change = {"xcp": {"capacity_bps": self._next_bps}}
        try:
            with self._controller.api() as api:
                while self._go.is_set():
                    path = f"/v1/switches/{self.switch}/ports/{self.port}"
                    status, document = api.ask("PATCH", path, change)
                    if status in (200, 202):
                        self.candidates = {self._next_bps}
                        self.acknowledged += 1
                        self._next_bps += STEP_BPS
                        change = {"xcp": {"capacity_bps": self._next_bps}}
                    elif status in (409, 502, 503):  # in the middle of a recovery; nothing was stored
                        time.sleep(0.02)
                    else:
                        raise AssertionError((status, document))
        except (OSError, http.client.HTTPException):
            self.unanswered += 1
            self.candidates.add(self._next_bps)
            time.sleep(0.02)


def run(
    controller: ServedController, side: Embedded, kills: int, seed: int, tell: Callable[[str], None] = print
) -> Outcome:
    """Kills `kills` times. Controller and switches must be running, and are running afterwards."""
    rng = random.Random(seed)
    outcome = Outcome()
    names = [f"s{device}" for device in side.devices]
    with controller.api() as api:
        for device in side.devices:
            api.add(f"s{device}", side.address, device)
        api.await_sync(*names)
    writers = [
        Writer(controller, name, port, FIRST_BPS * (10 * index + port))
        for index, name in enumerate(names, start=1)
        for port in (1, 2)
    ]
    versions = Versions()
    for writer in writers:
        writer.start()
    try:
        for number in range(1, kills + 1):
            for writer in writers:
                writer.resume()
            time.sleep(rng.uniform(0.01, LONGEST_S))
            victim = rng.choice(["controller", "controller", "agent", "data plane"])
            began = time.monotonic()
            _kill(victim, controller, side)
            outcome.kills[victim] += 1
            with controller.api() as api:
                api.await_sync(*names)
            _await_service(writers)
            outcome.recovery_s.append(time.monotonic() - began)
            for writer in writers:
                writer.pause()
            _compare(controller, side, writers, versions, outcome)
            if number % 10 == 0:
                tell(f"{number} kills, {sum(writer.acknowledged for writer in writers)} changes")
    finally:
        for writer in writers:
            writer.end()
    outcome.acknowledged = sum(writer.acknowledged for writer in writers)
    outcome.unanswered = sum(writer.unanswered for writer in writers)
    return outcome


def _kill(victim: str, controller: ServedController, side: Embedded) -> None:
    if victim == "controller":
        controller.kill()
        controller.start()
    elif victim == "agent":
        side.kill()
        side.start()
    else:
        side.kill_data_plane()


def _await_service(writers: list[Writer]) -> None:
    """Waits until every writer has got two more answers: the second is to a request from after the kill."""
    before = [writer.acknowledged for writer in writers]

    def served() -> bool:
        return all(writer.acknowledged > count + 1 for writer, count in zip(writers, before, strict=True))

    wait_until(served, "all writers served", PATIENCE_S)


class Versions:
    """The versions of each port in the audit, and how often each occurs."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, int], Counter[int]] = {}
        self._last_id = 0

    def read_on(self, api: Api) -> None:
        """Adds the audit records since the last call."""
        address: str | None = "/v1/audit?limit=1000"
        newest = self._last_id
        while address is not None:
            page = api.get(address)
            for record in page["items"]:
                if record["id"] <= self._last_id:
                    page["next"] = None
                    break
                newest = max(newest, record["id"])
                if record["action"] == "port.change":
                    key = (record["switch"], record["port"])
                    self.seen.setdefault(key, Counter())[record["after"]["version"]] += 1
            address = page["next"]
        self._last_id = newest


def _compare(
    controller: ServedController, side: Embedded, writers: list[Writer], versions: Versions, outcome: Outcome
) -> None:
    """Waits until the switch is restored, then counts every difference."""
    with controller.api() as api:
        versions.read_on(api)
        for writer in writers:
            path = f"/v1/switches/{writer.switch}/ports/{writer.port}"
            wait_until(partial(_is_applied, api, path), f"{path} applied", PATIENCE_S)
            state = api.get(path)
            stored = _capacity(state["desired"])
            allowed = writer.candidates if writer.acknowledged else {*writer.candidates, None}
            outcome.lost += stored not in allowed
            if stored is not None:
                writer.candidates = {stored}
            try:
                wait_until(partial(_is_set, side, writer, stored), "equal", seconds=30)
            except AssertionError:
                outcome.differing += 1
            expected = Counter(range(1, state["version"] + 1))
            outcome.duplicated += versions.seen[writer.switch, writer.port] != expected


def _is_applied(api: Api, path: str) -> bool:
    return bool(api.get(path)["applied"])


def _is_set(side: Embedded, writer: Writer, capacity_bps: int | None) -> bool:
    found = settings_on(side.address, int(writer.switch[1:]), [writer.port]).get(writer.port)
    return found is not None and (found.xcp and found.xcp.capacity_bps) == capacity_bps


def _capacity(settings: Json) -> int | None:
    return None if settings["xcp"] is None else int(settings["xcp"]["capacity_bps"])
