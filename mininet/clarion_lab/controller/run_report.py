# SPDX-License-Identifier: Apache-2.0
"""A run under a controller is one of its experiments: this run registers, says every other second what it is
doing, and leaves its summary there at its end.

A run is worth more than its report: whatever fails here is a line on stderr at most.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clarion_base.errors import Interrupted, UserError
from clarion_lab.controller.rest_client import RefusedByController, RestClient
from clarion_lab.recording.progress import request_stop

PERIOD_S = 2.0
END_TRIES = 10  # the controller may be restarting
END_PAUSE_S = 1.0
LINE_CHARACTERS = 500
MOST_SUMMARY_CHARACTERS = 400_000  # a controller takes requests of 512 KiB
MOST_SETTINGS = 50
MOST_SETTING_CHARACTERS = 9000


class NoReport:
    """Of a run that has no controller."""

    def say(self, line: str) -> None:
        """Nobody listens."""

    def end(self, error: BaseException | None, summary: Callable[[], Mapping[str, Any]] | None) -> None:
        """Nobody listens."""


class RunReport(NoReport):
    """Reports one run, from a thread of its own. It registers with the first line that the run says, so that
    one that is refused before it begins is none.
    """

    def __init__(self, client: RestClient, registration: Mapping[str, Any]) -> None:
        """`registration` is the document that registers the run, see `document`."""
        self._client = client
        self._registration = registration
        self._path = ""  # of the run at the controller, once it is registered
        self._line = ""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def say(self, line: str) -> None:
        """What the run is doing; the newest line counts."""
        self._line = " ".join(line.split())[:LINE_CHARACTERS]
        if self._thread is None:
            self._thread = threading.Thread(target=self._report, name="run report", daemon=True)
            self._thread.start()

    def end(self, error: BaseException | None, summary: Callable[[], Mapping[str, Any]] | None) -> None:
        """The run has ended, well or with an error; blocks until the controller knows or cannot be told.
        `summary` reads what it has left.
        """
        if self._thread is None:
            return
        self._over.set()
        self._thread.join()
        if self._path:
            left = None if summary is None else _fitting(summary())
            self._send_result({**_outcome(error), "summary": left})

    def _report(self) -> None:
        try:
            made = self._client.call("POST", "/v1/runs", self._registration)
        except UserError as error:
            _warn(f"{error}; the controller does not show this run among its experiments")
            return
        self._path = f"/v1/runs/{made['id']}"
        while not self._over.wait(PERIOD_S):
            # A controller that restarts or is away for a moment learns of it the next time.
            with contextlib.suppress(UserError):
                said = self._client.call("PUT", f"{self._path}/progress", {"progress": self._line})
                if said["stop"]:
                    request_stop()

    def _send_result(self, document: Mapping[str, Any]) -> None:
        for left in reversed(range(END_TRIES)):
            try:
                self._client.call("PUT", f"{self._path}/result", document)
                return
            except UserError as error:
                if not left or isinstance(error, RefusedByController):
                    _warn(f"{error}; the controller does not know how this run ended")
                    return
                time.sleep(END_PAUSE_S)


def document(
    scenario: str, engine: str, settings: Mapping[str, Any], repeat: int, out: Path
) -> dict[str, Any]:
    """What registers a run whose files go to `out`."""
    shown = {key: _shown(value) for key, value in list(settings.items())[:MOST_SETTINGS]}
    place = f"{socket.gethostname()}:{out.resolve()}"
    return {"scenario": scenario, "engine": engine, "settings": shown, "repeat": repeat, "place": place}


def _shown(value: Any) -> Any:
    """A setting as JSON has it; one that is very long is shown by its beginning."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return json.loads(text) if len(text) <= MOST_SETTING_CHARACTERS else text[:100] + "..."


def _outcome(error: BaseException | None) -> dict[str, Any]:
    if error is None:
        return {"state": "complete", "error": None}
    if isinstance(error, (Interrupted, KeyboardInterrupt)):
        return {"state": "stopped", "error": None}
    reason = " ".join(str(error).split()) or type(error).__name__
    return {"state": "failed", "error": reason[:LINE_CHARACTERS]}


def _fitting(summary: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The summary as far as it goes into a request: else without its single runs, else none."""
    for candidate in (summary, {**summary, "runs": []}):
        if len(json.dumps(candidate)) <= MOST_SUMMARY_CHARACTERS:
            return candidate
    return None


def _warn(text: str) -> None:
    print(f"clarion: {text}", file=sys.stderr)
