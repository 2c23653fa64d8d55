# SPDX-License-Identifier: Apache-2.0
"""A user of the controller while others guess tokens: the user's latency, and the cost to the store."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench.quantities import Json, percentiles, processor_s, shown
from integration.controller_net import PATIENCE_S, ServedController

HERE = Path(__file__).resolve().parent
SOURCES = 500
EVERY_S = 0.02  # between two requests of the user
USER = ("127.0.0.3", 0)


def lockout(rates: list[int], seconds: float) -> list[Json]:
    """Figures at each rate of guesses per second, 0 first."""
    return [lockout_at(rate, seconds) for rate in rates]


def lockout_at(rate: int, seconds: float) -> Json:
    """A new controller, a user who signs in and then reads switches, and guesses at a rate."""
    with (
        tempfile.TemporaryDirectory() as name,
        ServedController(Path(name), None, "--no-tuner", dashboard=True) as controller,
    ):
        port = urlsplit(controller.url).port or 0
        with guessing(port, rate) as answers:
            time.sleep(2.0 if rate else 0.0)
            before, began_cpu_s, began = operations(controller), processor_s(controller.pid), time.monotonic()
            signed_in_s = sign_in(port, controller.token)
            latencies = reads(port, controller.token, seconds)
            took_s = time.monotonic() - began
            cpu = (processor_s(controller.pid) - began_cpu_s) / took_s
            after = operations(controller)
        figures: Json = {"guesses_per_s": rate, "answers": dict(answers), "requests": len(latencies)}
        figures["request_ms"] = percentiles(latencies, 1e3)
        figures["sign_in_ms"] = signed_in_s * 1e3
        figures["store_per_s"] = {kind: (after[kind] - before[kind]) / took_s for kind in after}
        figures["processors"] = cpu
        figures["load"] = os.getloadavg()[0]
    store = shown(figures["store_per_s"])
    print(f"  {rate:5}/s: {shown(figures['request_ms'])} ms, {cpu:.2f} processors, store/s: {store}")
    print(f"         answers: {figures['answers']}, load {figures['load']:.1f}")
    return figures


def sign_in(port: int, token: str) -> float:
    """How long the user takes to get in."""
    began = time.monotonic()
    with connection(port) as user:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        user.request("POST", "/login", urlencode({"token": token}), kind)
        assert user.getresponse().status == 303
    return time.monotonic() - began


def reads(port: int, token: str, seconds: float) -> list[float]:
    """Latencies of the user's requests, which all succeed."""
    latencies = []
    end = time.monotonic() + seconds
    with connection(port) as user:
        while (began := time.monotonic()) < end:
            user.request("GET", "/v1/switches", headers={"Authorization": f"Bearer {token}"})
            answer = user.getresponse()
            answer.read()
            assert answer.status == 200
            latencies.append(time.monotonic() - began)
            time.sleep(EVERY_S)
    return latencies


@contextlib.contextmanager
def connection(port: int) -> Iterator[http.client.HTTPConnection]:
    made = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S, source_address=USER)
    try:
        yield made
    finally:
        made.close()


def operations(controller: ServedController) -> dict[str, float]:
    """Transactions on the store so far, by kind."""
    with connection(urlsplit(controller.url).port or 0) as user:
        user.request("GET", "/metrics", headers={"Authorization": f"Bearer {controller.token}"})
        lines = user.getresponse().read().decode().splitlines()
    return {
        line.split('"')[1]: float(line.split()[1])
        for line in lines
        if line.startswith("clarion_store_operations_total{")
    }


@contextlib.contextmanager
def guessing(port: int, rate: int) -> Iterator[dict[str, int]]:
    """Guesses from another process; the answers that they got are there at the end."""
    answers: dict[str, int] = {}
    if rate == 0:
        yield answers
        return
    command = [sys.executable, str(HERE / "bogus_requests.py"), str(port), str(rate), str(SOURCES)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write("\n")
        child.stdin.flush()
        yield answers
        child.stdin.close()
        answers |= json.loads(child.stdout.readline())
    finally:
        with contextlib.suppress(OSError):
            child.stdin.close()
        try:
            child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()
