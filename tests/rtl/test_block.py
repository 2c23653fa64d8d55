# SPDX-License-Identifier: Apache-2.0
"""The RTL of the whole block, behind its register front end, as a black box: bytes, state and clocks.

Verilator simulates it. `make hls-synth` runs this with a tool's RTL of the units (CLARION_RTL_DRIVER;
CLARION_RTL_DATA with the files that it reads; CLARION_RTL_SLOW if its clocks are not checked). Otherwise
the units are stand-ins, the block in C simulation, which checks the bench, the front end and these tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from clarion_base.steps import StepError, Steps
from clarion_nic.driver import register_map as registers
from clarion_synth import rtl_bench, targets
from conformance import frames
from conformance.block.bench import MAX_BYTES, MIN_BYTES, Bench, Received, Sent, Values
from conformance.block.conftest import driver as c_driver
from conformance.block.model import IngressModel, after_ingress, told
from conformance.block.player import PORTS
from conformance.block.streams import Streams, padded
from conformance.harness import DriverError, ReferencePlayer, decode
from conformance.reference import Config, Router
from conformance.vectors import FOLDER, event_of, load
from rtl.black_box import SLOW, BlackBoxPlayer, alone

STUBS = Path(__file__).resolve().parent / "stubs"
FILES = sorted(FOLDER.glob("*.jsonl"))
ANSWER_CLOCKS = 100 * SLOW
LIMIT = 2**40 - 1
TAGS = {"stamp": 1, "min_interval": 1, "max_interval": 1, "generation": 1, "queue_limit": LIMIT}
XCP = {"xcp": 1, "epoch": 1, "stamp": 1, "capacity": 10**9, "alpha": 26214, "gamma": 6554}
INTERVALS = {"min_interval": 100_000, "max_interval": 100_000, "queue_limit": LIMIT}
# A process may miss clocks in a long run: idle clocks at the end of a frame are not made up for.
LEAST_BEATS_PER_CLOCK = 0.99


@pytest.fixture(scope="module")
def rtl_driver() -> Path:
    """The RTL on its bench."""
    if made := os.environ.get("CLARION_RTL_DRIVER"):
        return Path(made)
    if missing := rtl_bench.missing():
        pytest.skip(missing)
    modules, sources = rtl_bench.STAND_IN_MODULES, [rtl_bench.STAND_IN]
    try:
        return rtl_bench.build(Steps(dry_run=False), rtl_bench.WORK / "stand-in", modules, sources)
    except StepError as error:
        pytest.fail(str(error))


@pytest.fixture
def rtl(rtl_driver: Path) -> Iterator[Bench]:
    """A block with three ports, of RTL."""
    data = os.environ.get("CLARION_RTL_DATA")
    bench = Bench(rtl_driver, PORTS, False, ANSWER_CLOCKS, Path(data) if data else None)
    yield bench
    bench.close()


def ask(bench: Bench, unit: int, operation: str, values: Values | None = None) -> Values:
    """Carry out a command."""
    status, answer = bench.ask(unit, operation, values)
    assert status == 0
    return answer


def hold(fulfilled: bool) -> None:
    """Check a bound on clocks, unless the RTL comes from a tool that is known to be slow."""
    assert fulfilled or SLOW > 1


def tell(unit: str, what: str, value: str) -> None:
    print(f"\nrtl: {unit}: {what}: {value}", end="")


# --- Bytes and state ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vector(rtl: Bench, path: Path) -> None:
    lines = load(path)
    events = alone([event_of(line) for line in lines])
    answers = BlackBoxPlayer(rtl).play(events)
    expected = decode(events, ReferencePlayer().play(events))
    for number, (got, (event, wanted)) in enumerate(zip(answers, expected, strict=True)):
        different = {n: (got[n], wanted[n]) for n in got if n in wanted and got[n] != wanted[n]}
        assert not different, f"event {number}, {event}: (RTL, reference) differ in {different}"


def test_frames_of_every_kind_whole_and_damaged_pass_the_way_in(rtl: Bench) -> None:
    model, streams = IngressModel(), Streams(4)
    check = {"check": 1, "wire": 1, "epoch": 1}
    ask(rtl, 0, "configure", check)
    model.configure(check)
    rtl.units_on(0)
    rtl.idle(0, 1, 30, 90)
    stream = [*streams.any_kind(0, 400), *streams.one_beat(200, 3, True), *streams.longest(4)]
    for sent in stream:
        rtl.send(0, sent)
    rtl.settle()
    whole = told(stream)
    expected = [after_ingress(model.packet(sent.frame)) for sent in whole if sent is not None]
    out = rtl.output(0, host=True).frames
    assert [received.frame for received in out] == expected
    assert not any(received.damaged for received in out)
    model.count["errored"] += whole.count(None)
    hold(rtl.output(0).refused == 0)
    state = ask(rtl, 0, "read")
    assert state == {**state, **model.read()}
    for bucket in range(8):
        assert ask(rtl, 0, "read_bucket", {"bucket": bucket}) == model.read_bucket(bucket)


def test_frames_of_every_length_are_numbered_on_the_way_out(rtl: Bench) -> None:
    router = Router(1)
    router.configure(0, Config(stamp=True))
    ask(rtl, PORTS, "configure", TAGS)
    rtl.units_on(PORTS)
    expected = []
    for number, length in enumerate(chain(range(MIN_BYTES, 400), range(400, 1601, 37), [9000, MAX_BYTES])):
        header = frames.tag(number % 5, number, 1, 2)
        carry = (frames.ipv4, frames.ipv6)[number % 2]
        packet = router.ingress(0, carry(header).ljust(length, bytes([number % 256])))
        rtl.send(0, Sent(packet.frame, gap=number % 3), host=True)
        router.enqueue(0, 0, 0, packet)
        expected.append(router.dequeue(0, 0, packet))
    rtl.stall(0, 3, 40, 60)
    rtl.settle()
    assert [received.frame for received in rtl.output(0).frames] == expected


def test_what_is_out_of_range_is_refused_and_changes_nothing(rtl: Bench) -> None:
    before = ask(rtl, PORTS, "read")
    assert rtl.ask(PORTS, "configure", {**TAGS, "stamp": 2}) == (2, {})
    assert rtl.ask(0, "read_bucket", {"bucket": 65535})[0] == 2
    assert ask(rtl, PORTS, "read") == before
    assert not rtl.write(registers.HEADER["type"].offset, 1)


# --- Clocks -------------------------------------------------------------------------------------------


def beats_per_clock(out: list[Received], beats: int) -> float:
    """Return the mean rate from the first beat out to the last."""
    return beats / (out[-1].last_clock - out[0].first_clock + 1)


@pytest.mark.parametrize("host", [False, True], ids=["ingress", "egress"])
@pytest.mark.parametrize("length", [60, 64, 128, 1500, 9600])
def test_a_beat_per_clock(rtl: Bench, length: int, host: bool) -> None:
    beats = -(-length // 64)
    count = max(1500 // beats, 4)
    frame = frames.ipv4(frames.tag(bucket=1)).ljust(length, b"\0")
    rtl.units_on(PORTS * host)
    for _ in range(count):
        rtl.send(0, Sent(frame), host=host)
    rtl.settle()
    hold(rtl.output(0, host=host).refused == 0)
    out = rtl.output(0, host=not host).frames
    assert [received.frame for received in out] == [frame] * count
    rate = beats_per_clock(out, count * beats)
    tell("egress" if host else "ingress", f"{length} bytes back to back, beats per clock", f"{rate:.4f}")
    hold(rate >= LEAST_BEATS_PER_CLOCK)


@pytest.mark.parametrize("generation", [1, 2])
def test_shortest_data_frames_with_feedback(rtl: Bench, generation: int) -> None:
    ask(rtl, PORTS, "configure", {**XCP, **INTERVALS, "generation": generation})
    rtl.units_on(PORTS)
    rtl.wires(now_step=1000)
    stream = Streams(1).shortest_data(1500)
    for sent in stream:
        rtl.send(0, sent, host=True)
    rtl.settle()
    hold(rtl.output(0, host=True).refused == 0)
    out = rtl.output(0).frames
    assert len(out) == len(stream)
    intervals = ask(rtl, PORTS, "read")["intervals"]
    assert intervals >= 20
    clocks = out[-1].last_clock - out[0].first_clock + 1
    tell("egress", "shortest DATA frames, beats per clock", f"{2 * len(stream) / clocks:.4f}")
    most = targets.load().process("IntervalStage").latency
    hold(clocks <= 2 * len(stream) / LEAST_BEATS_PER_CLOCK + most * intervals)


@pytest.mark.parametrize("host", [False, True], ids=["ingress", "egress"])
def test_latency(rtl: Bench, host: bool) -> None:
    top = targets.load().tops[host]
    rtl.units_on(PORTS * host)
    rtl.send(0, Sent(padded(frames.ipv4(frames.tag()))), host=host)
    rtl.run(1000 * SLOW)
    (came,) = rtl.output(0, host=host).ended
    (left,) = rtl.output(0, host=not host).frames
    clocks = left.first_clock - came
    tell("egress" if host else "ingress", "last beat in to first beat out, clocks", str(clocks))
    hold(clocks <= top.latency)


# --- The bench itself ---------------------------------------------------------------------------------


def test_a_block_that_is_wrong_is_noticed() -> None:
    bench = Bench(c_driver("-late"), PORTS, False)  # memory slower than the block's forwarding covers
    with pytest.raises(AssertionError):
        test_frames_of_every_kind_whole_and_damaged_pass_the_way_in(bench)
    bench.close()


@pytest.mark.skipif("CLARION_RTL_DRIVER" in os.environ, reason="a part of another run of these tests")
def test_rtl_of_something_else_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if missing := rtl_bench.missing():
        pytest.skip(missing)
    steps = Steps(dry_run=False)
    modules = [STUBS / f"clarion_{way}.sv" for way in ("ingress", "egress")]
    driver = rtl_bench.build(steps, tmp_path, modules)
    assert rtl_bench.play(steps, driver, tmp_path) == "the RTL does not do what C simulation does"
    assert " failed" in capfd.readouterr().out


def test_what_rtl_does_not_show_is_refused(rtl_driver: Path) -> None:
    bench = Bench(rtl_driver, PORTS, False)
    with pytest.raises(DriverError, match="show nothing of their queues"):
        bench.log(0)
    bench = Bench(rtl_driver, 2, True)
    with pytest.raises(DriverError, match="three ports and no bump"):
        bench.run(1)
