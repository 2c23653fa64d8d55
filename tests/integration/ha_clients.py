# SPDX-License-Identifier: Apache-2.0
"""Clients that raise the capacity of a port again and again, through whichever controller takes it.

Each change is made of what was read (If-Match), so versions and capacities of a port go up together: an
overwritten change, one that happens twice, and one that is lost all show in the audit.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from integration.held_thread import HeldThread

STEP_BPS = 8  # switches count whole bytes/s
ANSWER_S = 5.0  # a client waits no longer
PAUSE_S = 0.03
_GONE = (OSError, http.client.HTTPException)


@dataclass
class Ledger:
    """What the clients of one port were told."""

    switch: str
    port: int
    acknowledged: dict[int, int] = field(default_factory=dict)  # capacity by version
    twice: int = 0  # versions that two clients were told they had made: must be 0
    unanswered: int = 0  # changes of which no client knows whether they happened
    answers: Counter[int] = field(default_factory=Counter)  # by status
    slowest_s: float = 0.0  # of all answers
    last_s: float | None = None  # when a change was acknowledged last; None: nobody writes
    refused_s: float = 0.0  # longest time without an acknowledged change since the last `begin`
    lock: threading.Lock = field(default_factory=threading.Lock)

    def acknowledge(self, version: int, capacity_bps: int) -> None:
        """A client was told that its change is made, or stored."""
        with self.lock:
            self.twice += version in self.acknowledged
            self.acknowledged[version] = capacity_bps
            self._note()

    def begin(self) -> None:
        """Clients write from now on."""
        with self.lock:
            self.last_s, self.refused_s = time.monotonic(), 0.0

    def pause(self) -> float:
        """No client writes any more; returns the longest time without an acknowledged change."""
        with self.lock:
            self._note()
            self.last_s = None
            return self.refused_s

    def _note(self) -> None:
        now = time.monotonic()
        if self.last_s is not None:
            self.refused_s = max(self.refused_s, now - self.last_s)
            self.last_s = now


class Client(HeldThread):
    """A client of one port. It stays with a controller until that one does not take a change."""

    def __init__(self, ledger: Ledger, addresses: Sequence[str], token: str) -> None:
        super().__init__()
        self._ledger = ledger
        self._addresses = addresses
        self._at = 0
        self._path = f"/v1/switches/{ledger.switch}/ports/{ledger.port}"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._connection: http.client.HTTPConnection | None = None

    def work(self) -> None:
        """One change, or a turn to the other controller."""
        if not self._change():
            self._turn_to_the_other()
            time.sleep(PAUSE_S)

    def _change(self) -> bool:
        """One change; False if this controller does not take it."""
        try:
            status, tag, document = self._ask("GET")
        except _GONE:
            return False
        if status != 200 or document["desired"] is None or document["desired"]["xcp"] is None:
            return False
        version = document["version"] + 1
        capacity_bps = document["desired"]["xcp"]["capacity_bps"] + STEP_BPS
        try:
            status, _, _ = self._ask("PATCH", {"xcp": {"capacity_bps": capacity_bps}}, tag)
        except _GONE:
            self._ledger.unanswered += 1
            return False
        if status in (200, 202):
            self._ledger.acknowledge(version, capacity_bps)
        elif status in (502, 503):
            self._ledger.unanswered += 1
        return status in (200, 202, 412)

    def _ask(self, method: str, body: Any = None, tag: str | None = None) -> tuple[int, str, Any]:
        """Status, ETag and document."""
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/merge-patch+json"
            headers["If-Match"] = tag or ""
        began = time.monotonic()
        if self._connection is None:
            host, _, port = self._addresses[self._at].partition(":")
            self._connection = http.client.HTTPConnection(host, int(port), timeout=ANSWER_S)
        try:
            self._connection.request(method, self._path, None if body is None else json.dumps(body), headers)
            reply = self._connection.getresponse()
            document = json.loads(reply.read())
        except _GONE:
            self._leave()
            raise
        with self._ledger.lock:
            self._ledger.slowest_s = max(self._ledger.slowest_s, time.monotonic() - began)
            if method == "PATCH":
                self._ledger.answers[reply.status] += 1
        return reply.status, reply.headers.get("ETag", ""), document

    def _turn_to_the_other(self) -> None:
        self._leave()
        self._at = (self._at + 1) % len(self._addresses)

    def _leave(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
