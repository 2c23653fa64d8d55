# SPDX-License-Identifier: Apache-2.0
"""The runner, as an asker sees it that is not to be trusted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import pytest_asyncio

from clarion_control.experiments import protocol
from clarion_control.experiments.client import RunnerClient
from clarion_control.experiments.protocol import RunnerAwayError, RunnerError
from clarion_control.model import Experiment, ExperimentState
from clarion_lab.machine.state import start_time
from fakes import runner as fake_runner
from fakes.controller import DEADLINE_S, until
from fakes.runner import open_runner

PLACE = {"experiment": 1, "created_us": 7}
RESERVE = {"do": "reserve", **PLACE}
RUN = {"do": "run", **PLACE, "scenario": "smoke", "engine": "emu", "settings": {}, "repeat": 1}
GOES_ON = {**RUN, "settings": {"description": "goes on"}}
EXPERIMENT = Experiment(1, "smoke", "emu", (), 1, ExperimentState.QUEUED, 7, "ann")


class Asker:
    """A raw connection."""

    made: ClassVar[list[Asker]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.made.append(self)

    @classmethod
    async def of(cls, runner: RunnerClient) -> Asker:
        return cls(*await asyncio.open_unix_connection(str(runner._socket)))

    async def send(self, text: bytes) -> None:
        self._writer.write(text)
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def ask(self, message: dict[str, Any]) -> None:
        await self.send(json.dumps(message).encode() + b"\n")

    async def heard(self) -> tuple[str, Any]:
        """The next word; `("", None)` at the end."""
        line = await asyncio.wait_for(self._reader.readline(), DEADLINE_S)
        [(kind, value)] = json.loads(line).items() if line else [("", None)]
        return kind, value

    async def until(self, kind: str) -> Any:
        """The next word of this kind."""
        while True:
            heard, value = await self.heard()
            assert heard, f"the runner went before it said {kind!r}"
            if heard == kind:
                return value

    async def goes_on(self) -> None:
        """Waits until the run of GOES_ON takes signals."""
        while "18.9 Mbit/s" not in await self.until("said"):
            pass

    async def leave(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


@pytest_asyncio.fixture(autouse=True)
async def nobody_stays() -> AsyncIterator[None]:
    yield
    while Asker.made:
        await Asker.made.pop().leave()


@pytest_asyncio.fixture
async def runner(tmp_path: Path) -> AsyncIterator[RunnerClient]:
    async with open_runner(tmp_path / "results") as made:
        yield made


async def answer(runner: RunnerClient, text: bytes) -> Any:
    """What the runner refuses a line with; it has nothing else to say."""
    asker = await Asker.of(runner)
    await asker.send(text)
    assert (await asker.heard())[0] == "results"
    kind, value = await asker.heard()
    assert kind == "refused"
    assert await asker.heard() == ("", None)
    await asker.leave()
    return value


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


async def begin(runner: RunnerClient, message: dict[str, Any]) -> Asker:
    """A run in a directory that is reserved for it."""
    first = await Asker.of(runner)
    await first.ask(RESERVE)
    assert await first.until("reserved") is True
    await first.leave()
    asker = await Asker.of(runner)
    await asker.ask(message)
    return asker


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"\n", "EOF while parsing"),
        (b"run smoke\n", "request: Invalid JSON"),
        (b"[]\n", "request: "),
        (b"\xff\xfe\n", "request: Invalid JSON"),
        (b"[" * 100_000 + b"\n", "recursion limit"),
        (line({}), "request: Unable to extract tag using discriminator 'do'"),
        (line({"do": "cleanup"}), "'cleanup' found"),
        (line({**RESERVE, "out": "/etc"}), "reserve.out: Extra inputs are not permitted"),
        (line({**RUN, "out": "/etc"}), "run.out: Extra inputs are not permitted"),
        (line({**RUN, "command": ["sh"]}), "run.command: Extra inputs are not permitted"),
        (line({**RESERVE, "experiment": "../../etc"}), "reserve.experiment: Input should be a valid integer"),
        (line({**RESERVE, "experiment": -1}), "reserve.experiment: "),
        (line({**RESERVE, "experiment": 1.5}), "reserve.experiment: "),
        (line({**RESERVE, "created_us": 2**63}), "reserve.created_us: "),
        (line({**RUN, "scenario": "/tmp/mine.yaml"}), "no such scenario ships"),
        (line({**RUN, "scenario": "../scenarios/smoke"}), "no such scenario ships"),
        (line({**RUN, "scenario": "--help"}), "no such scenario ships"),
        (line({**RUN, "engine": "emu --controller http://x"}), "no such engine"),
        (line({**RUN, "settings": {"x --out": "/etc"}}), "use a dotted name"),
        (line({**RUN, "settings": {"duration": "5 parsecs"}}), "duration"),
        (line({**RUN, "settings": []}), "run.settings: "),
        (line({**RUN, "repeat": 10**6}), "use a whole number from 1 to 100"),
        (line({**RUN, "repeat": True}), "run.repeat: "),
        (line(RUN), "experiment 1: its directory is not reserved, or has results"),
    ],
)
async def test_nothing_but_a_shipped_scenario_is_run(
    runner: RunnerClient, tmp_path: Path, text: bytes, reason: str
) -> None:
    assert reason in await answer(runner, text)
    assert [each.name for each in (tmp_path / "results").iterdir()] == ["home"]


async def test_a_line_has_an_end(runner: RunnerClient) -> None:
    asked = b"x" * (protocol.MAX_ASKED_BYTES + 2)
    assert "a request has at most 4194304 bytes" in await answer(runner, asked)


async def test_who_does_not_ask_is_sent_away(tmp_path: Path) -> None:
    async with open_runner(tmp_path / "results", ask_s=0.05) as runner:
        assert await answer(runner, b'{"do"') == "nothing was asked for 0.05 s"


async def test_another_user_hears_nothing(tmp_path: Path) -> None:
    async with open_runner(tmp_path / "results", users=[os.geteuid() + 1]) as runner:
        asker = await Asker.of(runner)
        await asker.ask(RESERVE)
        kind, reason = await asker.heard()
        assert (kind, f"user {os.geteuid()} may not ask" in reason) == ("refused", True)
        with pytest.raises(RunnerError, match="may not ask"):
            await runner.connect()
    assert [each.name for each in (tmp_path / "results").iterdir()] == ["home"]


async def test_a_place_is_reserved_once_and_used_once(runner: RunnerClient) -> None:
    asker = await begin(runner, RUN)
    assert await asker.until("ended") == 0
    assert "has results" in await answer(runner, line(RUN))
    assert "no directory for results: File exists" in await answer(runner, line(RESERVE))


async def test_an_asker_that_goes_has_its_run_stopped(runner: RunnerClient, tmp_path: Path) -> None:
    asker = await begin(runner, GOES_ON)
    await asker.goes_on()
    pid = int((tmp_path / "results/1-7/started").read_text())
    await asker.leave()
    await until(lambda: start_time(pid) is None)
    assert json.loads((tmp_path / "results/1-7/summary.json").read_text()) == {"state": "interrupted"}


async def test_runs_wait_for_each_other(runner: RunnerClient) -> None:
    asker = await begin(runner, GOES_ON)
    await asker.goes_on()
    waiting = await begin_another(runner)
    await asker.send(protocol.STOP)
    assert await waiting.until("ended") == 0
    assert await asker.until("ended") == 143


async def begin_another(runner: RunnerClient) -> Asker:
    first = await Asker.of(runner)
    await first.ask({**RESERVE, "experiment": 2})
    await first.until("reserved")
    asker = await Asker.of(runner)
    await asker.ask({**RUN, "experiment": 2})
    return asker


async def test_a_run_that_waits_is_not_started_any_more(runner: RunnerClient, tmp_path: Path) -> None:
    asker = await begin(runner, GOES_ON)
    await asker.goes_on()
    waiting = await begin_another(runner)
    await waiting.send(protocol.STOP)
    await asker.leave()
    assert await waiting.until("ended") == 143
    assert not list((tmp_path / "results/2-7").iterdir())


async def test_a_run_has_a_clean_environment(
    runner: RunnerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLARION_STORE", "postgresql://clarion:secret@db/clarion")
    monkeypatch.setenv("PGPASSFILE", "/secret")
    asker = await begin(runner, GOES_ON)
    await asker.goes_on()
    pid = int((tmp_path / "results/1-7/started").read_text())
    given = dict(
        each.split("=", 1) for each in Path(f"/proc/{pid}/environ").read_text().split("\0") if "=" in each
    )
    assert given["HOME"] == str(tmp_path / "results/home")
    assert not [name for name in given if name.startswith("PG") or name == "CLARION_STORE"]
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    status = Path(f"/proc/{pid}/status").read_text()
    assert "NoNewPrivs:\t1" in status
    assert "Umask:\t0027" in status
    await asker.leave()


async def test_a_killed_runner_takes_its_run_along_and_the_next_cleans_up(tmp_path: Path) -> None:
    """The kernel interrupts a run when its parent is killed."""
    results, at = tmp_path / "results", Path(f"/tmp/runner-{os.getpid()}")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, fake_runner.__file__, str(results), str(at)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), DEADLINE_S) == b"serves\n"
        client = RunnerClient(results, at)
        asker = await begin(client, GOES_ON)
        await asker.goes_on()
        pid = int((results / "1-7/started").read_text())
        process.send_signal(signal.SIGKILL)
        await process.wait()
        await until(lambda: start_time(pid) is None)
        assert (results / "1-7/summary.json").exists()
        with pytest.raises(RunnerAwayError, match="does not answer"):
            await client.connect()
        async with open_runner(results):
            await until(lambda: (results / "home/cleanups").exists())
            await until(lambda: not (results / "unfinished").exists())
    finally:
        at.unlink(missing_ok=True)


async def test_results_are_where_both_look(runner: RunnerClient, tmp_path: Path) -> None:
    other = RunnerClient(tmp_path / "elsewhere", runner._socket)
    with pytest.raises(RunnerError, match=r"this controller looks in .*elsewhere; give --results"):
        await other.reserve(EXPERIMENT)
