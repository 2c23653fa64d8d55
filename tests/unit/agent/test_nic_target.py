# SPDX-License-Identifier: Apache-2.0
"""A card as a target of the agent: batches on its units, reports, and recovery after failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from finsy.proto import p4r

from clarion_agent.device import Device, RefusedBatch
from clarion_agent.program import Program
from clarion_agent.status import Refused
from clarion_contract.target import Change, Reset, SetEntry, SetFlood, TargetError
from clarion_contract.target import Note as KeepNote
from clarion_contract.words import P4_ONLY, WORDS, taken_apart
from clarion_nic.driver import mailbox, target
from clarion_nic.driver.entries import OFF
from clarion_nic.driver.errors import CardError
from clarion_nic.driver.limits import NO_LIMIT
from clarion_nic.driver.note import Note
from clarion_nic.driver.place import Place
from clarion_nic.driver.state import BUCKETS, REGISTERS, interval_report
from clarion_nic.driver.target import NicConnection, NicTarget
from fakes.fake_card import FakeCard
from fakes.p4runtime_messages import (
    IDS,
    XCP,
    counter,
    delete,
    digest,
    group,
    insert,
    modify,
    packet_out,
    register,
    table_entry,
)
from unit.agent.conftest import Primary

MAC = 0x020000000002
XCP_VALUES = dict(
    zip(
        ("capacity", "alpha", "beta", "gamma", "min_interval", "max_interval", "generation", "epoch"),
        XCP,
        strict=True,
    )
)
FOREVER_NS = 10**15
_Set = p4r.SetForwardingPipelineConfigRequest


@pytest.fixture
async def connection(card_file: Path) -> AsyncIterator[NicConnection]:
    made = NicConnection(Place("nic", card_file, 0))
    await made.open()
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def nic(connection: NicConnection) -> NicTarget:
    return connection.switches[0]


@pytest.fixture
async def manager(nic: NicTarget, program: Program) -> Primary:
    device = Device(1, nic, program)
    await device.start()
    made = Primary(device)
    await made.set_pipeline(program)
    return made


async def until(condition: Callable[[], bool]) -> None:
    end = asyncio.get_running_loop().time() + 30
    while not condition():
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0)


async def refusals(primary: Primary, *updates: p4r.Update) -> list[str | None]:
    with pytest.raises(RefusedBatch) as refused:
        await primary.write(*updates)
    return [None if error is None else error.message for error in refused.value.plan.errors]


EVERYTHING = (
    insert(table_entry("tag_port", 0, "set_tag_port", (1, 1, 5, 1))),
    insert(table_entry("xcp_port", 1, "set_xcp_port", XCP)),
    insert(table_entry("stamp_port", 1, "stamp")),
    insert(table_entry("queue_port", 0, "set_queue_port", (1_000_000,))),
)
ENTRIES = {
    ("tag_port", 0): {"check": 1, "edge": 1, "wire": 1, "epoch": 5},
    ("xcp_port", 1): XCP_VALUES,
    ("stamp_port", 1): {},
    ("queue_port", 0): {"limit_bytes": 1_000_000},
}


async def test_entries_are_what_the_units_are_set_to(
    manager: Primary, nic: NicTarget, fake_card: FakeCard
) -> None:
    await manager.write(*EVERYTHING)
    assert fake_card.configuration["ingress", 0] == {"check": 1, "edge": 1, "wire": 1, "epoch": 5}
    assert fake_card.configuration["egress", 1] == {
        **XCP_VALUES, "xcp": 1, "stamp": 1, "queue_limit": NO_LIMIT,
    }  # fmt: skip
    assert fake_card.configuration["egress", 0]["queue_limit"] == 1_000_000
    assert (await nic.present()).entries == ENTRIES
    before = len(fake_card.configured)
    await manager.write(
        delete(table_entry("tag_port", 0)),
        delete(table_entry("xcp_port", 1)),
        modify(table_entry("queue_port", 0, "set_queue_port", (0,))),
    )
    assert len(fake_card.configured) == before + 3  # units without a change get no command
    assert fake_card.configuration["ingress", 0] == OFF["ingress"]
    assert (fake_card.configuration["egress", 1]["xcp"], fake_card.configuration["egress", 1]["epoch"]) == (
        0,
        1,
    )
    assert (await nic.present()).entries == {("stamp_port", 1): {}, ("queue_port", 0): {"limit_bytes": 0}}


async def test_a_card_has_both_generations(manager: Primary, nic: NicTarget, fake_card: FakeCard) -> None:
    wanted = {**XCP_VALUES, "generation": 2}
    await manager.write(insert(table_entry("xcp_port", 1, "set_xcp_port", tuple(wanted.values()))))
    assert fake_card.configuration["egress", 1]["generation"] == 2
    assert (await nic.present()).entries == {("xcp_port", 1): wanted}
    await manager.write(modify(table_entry("xcp_port", 1, "set_xcp_port", XCP)))
    assert fake_card.configuration["egress", 1]["generation"] == 1


async def test_an_entry_that_does_nothing_is_not_forgotten(manager: Primary, nic: NicTarget) -> None:
    await manager.write(insert(table_entry("tag_port", 1, "set_tag_port", (0, 0, 9, 0))))
    assert (await nic.present()).entries == {("tag_port", 1): {"check": 0, "edge": 0, "wire": 0, "epoch": 9}}


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (insert(table_entry("l2_forward", MAC, "forward", (1,))), "l2_forward[02:00:00:00:00:02]: the switch "
         "refused: dst_addr: a NIC forwards between its host and its wire only"),
        (insert(group(0, 1)), "multicast group 1: the switch refused: flood: a NIC forwards between its host "
         "and its wire only"),
        (insert(table_entry("stamp_port", 2, "stamp")), "stamp_port[2]: the switch has no port 2; it has "
         "0, 1"),
        (modify(register("shares", 1, 5)), "shares: registers can be read only; an entry with another "
         "epoch starts anew"),
        (modify(table_entry("xcp_port", 1, "set_xcp_port", XCP)), "xcp_port[1]: does not exist"),
    ],
)  # fmt: skip
async def test_what_a_nic_cannot_do_is_refused_whole(
    manager: Primary, nic: NicTarget, fake_card: FakeCard, update: p4r.Update, message: str
) -> None:
    good = insert(table_entry("stamp_port", 1, "stamp"))
    assert await refusals(manager, good, update) == [None, message]
    assert fake_card.configured == []
    assert await manager.read(table_entry("", None)) == []


async def test_counters_of_a_nic_are_its_own(manager: Primary, fake_card: FakeCard) -> None:
    cell = counter("tx", 1)
    cell.counter_entry.data.packet_count = 5
    assert await refusals(manager, modify(cell)) == [
        "tx: counters can be read only; VERIFY_AND_COMMIT sets them to zero"
    ]
    with pytest.raises(Refused, match="packet_out: payload: a NIC takes no frames from a controller"):
        await manager.device.packet_out(packet_out(b"x").packet)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            SetEntry("tag_port", 0, {"check": 1, "edge": 0, "wire": 0, "epoch": 0}),
            "epoch: 0: use 1 to 255 while check is",
        ),
        (SetEntry("xcp_port", 1, {**XCP_VALUES, "capacity": 1 << 38}), "capacity: 274877906944: use 0 to"),
        (
            SetEntry("xcp_port", 1, {**XCP_VALUES, "generation": 3}),
            "generation: 3: use 0 to 2",
        ),
        (
            SetEntry("queue_port", 1, {"limit_bytes": 1 << 40}),
            "queue_limit: 1099511627776: use 0 to 10995116277",
        ),
        (SetEntry("stamp_port", 7, {}), "port: the card has no egress unit at port 7"),
        (SetFlood((0, 1)), "flood: a NIC forwards between its host and its wire only"),
    ],
)
async def test_a_batch_is_looked_through_before_the_card_hears_of_it(
    nic: NicTarget, fake_card: FakeCard, change: Change, reason: str
) -> None:
    changes: list[Change] = [
        Reset(),
        SetFlood(None),
        SetEntry("stamp_port", 7, None),
        SetEntry("stamp_port", 0, {}),
        change,
    ]
    with pytest.raises(TargetError) as refused:
        await nic.apply(changes)
    assert str(refused.value).startswith(f"changes[4].{reason}")
    assert not refused.value.gone
    assert fake_card.configured == []


async def test_a_reset_takes_the_note_away_unless_there_is_a_new_one(nic: NicTarget) -> None:
    await nic.apply([SetEntry("stamp_port", 1, {}), KeepNote("old")])
    assert (await nic.present()).note == "old"
    await nic.apply([SetEntry("stamp_port", 0, {})])
    assert (await nic.present()).note == "old"
    await nic.apply([Reset()])
    present = await nic.present()
    assert (dict(present.entries), present.note) == ({}, "")
    await nic.apply([Reset(), KeepNote("new")])
    assert (await nic.present()).note == "new"


async def test_what_fails_in_the_middle_is_put_back(
    manager: Primary, nic: NicTarget, fake_card: FakeCard
) -> None:
    await manager.write(insert(table_entry("stamp_port", 0, "stamp")))
    before = {key: dict(values) for key, values in fake_card.configuration.items()}
    entries = await manager.read(table_entry("", None))
    count = len(fake_card.configured)
    fake_card.refuse["egress", 1] = "out_of_range"  # the third of the units
    assert await refusals(manager, *EVERYTHING) == [
        "the switch refused: egress[1]: configure: the card refused: out of range", None, None, None,
    ]  # fmt: skip
    units = [("egress", 0), ("ingress", 0), ("egress", 1)]
    assert [key for key, _ in fake_card.configured[count:]] == [*units[:2], *reversed(units)]
    assert {key: fake_card.configuration[key] for key in units[:2]} == {key: before[key] for key in units[:2]}
    assert fake_card.configuration["egress", 0]["stamp"] == 1
    assert not fake_card.configuration["egress", 1]["xcp"]
    assert await manager.read(table_entry("", None)) == entries
    await manager.write(*EVERYTHING)


async def test_a_note_that_cannot_be_kept_undoes_the_batch(
    manager: Primary, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Note, "write", full)
    with pytest.raises(RefusedBatch) as refused:
        await manager.write(
            insert(table_entry("stamp_port", 0, "stamp")), insert(digest("interval_report_t"))
        )
    assert "the agent's note: [Errno 28] No space left" in str(refused.value.plan.errors[0])
    assert not fake_card.configuration["egress", 0]["stamp"]


async def test_a_commit_resets_the_units(manager: Primary, program: Program, fake_card: FakeCard) -> None:
    await manager.write(*EVERYTHING)
    fake_card.set("egress", 0, tx_packets=9)
    request = _Set(device_id=1, election_id=manager.election_id, action=_Set.VERIFY_AND_COMMIT)
    request.config.p4info.CopyFrom(program.p4info)
    await manager.device.set_pipeline(request)
    assert await manager.read(table_entry("", None)) == []
    assert fake_card.state["egress", 0]["tx_packets"] == 0
    assert fake_card.configuration["egress", 1] == OFF["egress"]


# Counters, registers, reports.


async def test_counters_have_the_names_of_the_program(manager: Primary, fake_card: FakeCard) -> None:
    fake_card.set("ingress", 0, rx_packets=1, rx_bytes=2, malformed=3, late=4, rebased=5)
    fake_card.set(
        "egress", 1, tx_packets=6, tx_bytes=7, drop_packets=8, drop_bytes=9, queue_late=10, queue_rebased=11
    )
    found = {}
    for name, port in (
        ("rx", 0), ("malformed", 0), ("wire_late", 0), ("wire_rebased", 0),
        ("tx", 1), ("queue_drops", 1), ("queue_late", 1), ("queue_rebased", 1), ("tx", 5),
    ):  # fmt: skip
        data = (await manager.read(counter(name, port)))[0].counter_entry.data
        found[name, port] = (data.packet_count, data.byte_count)
    assert found == {
        ("rx", 0): (1, 2), ("malformed", 0): (3, 0), ("wire_late", 0): (4, 0), ("wire_rebased", 0): (5, 0),
        ("tx", 1): (6, 7), ("queue_drops", 1): (8, 9), ("queue_late", 1): (10, 0),
        ("queue_rebased", 1): (11, 0), ("tx", 5): (0, 0),
    }  # fmt: skip


async def cell(manager: Primary, name: str, index: int) -> int:
    found = (await manager.read(register(name, index)))[0]
    return int.from_bytes(found.register_entry.data.bitstring, "big")


async def test_every_register_of_the_program_can_be_read(manager: Primary, program: Program) -> None:
    names = {array.name for array in program.registers.values()}
    members = {member for word in WORDS.values() for member in word} - P4_ONLY
    assert names - set(WORDS) | members == set(REGISTERS) | set(BUCKETS)
    for name in names:
        assert await cell(manager, name, 1) == 0


async def test_registers_are_packed_as_in_the_program(manager: Primary, fake_card: FakeCard) -> None:
    fake_card.set("ingress", 1, lost=77)
    fake_card.set(
        "egress", 1, tx_bytes=100, queue_bytes=11, queue_byte_ticks=3 << 28, running_epoch=5, avg_rtt=1234,
        intervals=(1 << 32) + 6, drop_packets=(1 << 32) + 7, persistent_queue=8, queue_lost=9, cp_shift=63,
        sum_x_rtt=(1 << 64) - 1, credit=30, fair=(1 << 32) - 1, lift_shift=2, growth=3,
        own_input=(1 << 48) - 1, own_sum_x=4, poor_sum_x=5, max_rtt=6, bank=7, limited=-8,
    )  # fmt: skip
    fake_card.bucket[("ingress", 1), 3] = {"far": 63, "epoch": 2, "expected": 0xABCD, "total": 0x1234}
    fake_card.bucket[("egress", 1), 4095] = {
        "queue_far": 6, "queue_epoch": 1, "queue_expected": 2, "queue_total": 3, "queue_next": 4,
        "link_next": 5,
    }  # fmt: skip
    wanted = {
        "wire_lost": 77, "accepted_bytes": 111, "left_bytes": 100, "queue_byte_us": 3_000_000, "xcp_epoch": 5,
        "avg_rtt": 1234, "intervals": 6, "queue_drop_number": 7, "persistent_queue": 8, "queue_lost": 9,
        "cp_shift": 63, "sum_x_rtt": (1 << 64) - 1, "credit": 30, "fair": (1 << 32) - 1, "lift_shift": 2,
        "growth": 3, "own_input": (1 << 48) - 1, "own_sum_x": 4, "poor_sum_x": 5, "max_rtt": 6, "bank": 7,
        "limited": (1 << 40) - 8,
    }  # fmt: skip
    found = {name: await cell(manager, name, 1) for name in wanted if name in IDS}
    for word in WORDS:
        found |= taken_apart(word, await cell(manager, word, 1))
    assert {name: found[name] for name in wanted} == wanted
    assert await cell(manager, "wire_slots", 4096 + 3) == 63 << 40 | 2 << 32 | 0xABCD << 16 | 0x1234
    assert await cell(manager, "queue_slots", 4096 + 4095) == 6 << 40 | 1 << 32 | 2 << 16 | 3
    assert await cell(manager, "queue_numbers", 4096 + 4095) == 4
    assert await cell(manager, "link_numbers", 4096 + 4095) == 5
    assert await cell(manager, "link_numbers", 9 * 4096) == 0
    assert len(await manager.read(register("shares"))) == 64


async def test_buckets_that_a_card_does_not_have(tmp_path: Path, run_root: Path, program: Program) -> None:
    with FakeCard(tmp_path / "small", ports=1, buckets=512) as fake:
        fake.bucket[("egress", 0), 511] = {"link_next": 6}
        nic = NicTarget(Place("nic", fake.path, 0))
        cells = await nic.registers("link_numbers", 0, 4096)
        assert (len(cells), cells[511], sum(cells)) == (4096, 6, 6)
        await nic.close()


STATE = {
    "elapsed": 2, "avg_rtt": 3, "interval_input": 4, "interval_sum_x": 5, "interval_sum_x_rtt": 6,
    "interval_queue": 7, "rate": 8, "phi": -9, "interval_pos": 10, "interval_neg": 11, "interval_cp": 12,
    "interval_cp_shift": 13, "interval_cn": 14, "interval_cn_shift": 15, "queue_lost": 17,
}  # fmt: skip


def test_a_report_has_the_members_of_the_digest(program: Program) -> None:
    members = interval_report(1, {"intervals": (1 << 32) + 1, **STATE}, 16)
    assert members == (1, 1, 2, 3, 4, 5, 6, 7, 8, (1 << 64) - 9, 10, 11, 12, 13, 14, 15, 16, 17, 0)
    (known,) = (each for each in program.digests.values() if each.name == "interval_report_t")
    assert len(members) == len(known.members)
    assert all(value >> field.bits == 0 for value, field in zip(members, known.members, strict=True))


class Heard:
    """A listener that records a target's reports."""

    def __init__(self) -> None:
        self.reports: list[tuple[int, ...]] = []
        self.lost = 0
        self.connected = 0

    def on_digest(self, name: str, members: tuple[int, ...]) -> None:
        assert name == "interval_report_t"
        self.reports.append(members)

    def on_packet(self, frame: bytes, port: int, time_us: int) -> None:
        raise AssertionError

    def on_lost(self, count: int) -> None:
        self.lost += count

    async def on_connected(self) -> None:
        self.connected += 1


async def test_intervals_are_reported_once_and_the_missed_ones_counted(
    nic: NicTarget, fake_card: FakeCard
) -> None:
    heard = Heard()
    nic.listen(heard)
    fake_card.set("egress", 1, intervals=40)
    await nic.want(["queue_drop_t"], packets=True)
    await nic.want(["interval_report_t"], packets=True)
    fake_card.set("ingress", 1, lost=16)
    fake_card.set("egress", 1, intervals=41, **STATE)
    await until(lambda: len(heard.reports) == 1)
    assert heard.reports[0] == interval_report(1, {"intervals": 41, **STATE}, 16)
    assert heard.lost == 0
    fake_card.set("egress", 1, intervals=45)
    await until(lambda: len(heard.reports) == 2)
    assert heard.lost == 3
    fake_card.set("egress", 1, intervals=2)  # the controllers were reset
    await until(lambda: len(heard.reports) == 3)
    assert heard.lost == 4
    fake_card.set("egress", 1, intervals=0)
    fake_card.set("egress", 0, intervals=1)
    await until(lambda: len(heard.reports) == 4)
    assert (heard.reports[3][0], heard.lost) == (0, 4)
    await nic.want([], packets=True)
    fake_card.set("egress", 1, intervals=50)
    await nic.want(["interval_report_t"], packets=True)
    fake_card.set("egress", 1, intervals=51)
    await until(lambda: len(heard.reports) == 5)
    assert (heard.reports[4][1], heard.lost) == (51, 4)  # intervals without a subscriber are not reported


async def test_reports_reach_the_controller_as_digests(manager: Primary, fake_card: FakeCard) -> None:
    await manager.write(insert(digest("interval_report_t")), insert(digest("queue_drop_t")))
    fake_card.set("egress", 0, intervals=1, **STATE)
    await until(lambda: any(message.HasField("digest") for message in manager.sent))
    (report,) = [message.digest for message in manager.sent if message.HasField("digest")]
    values = [int.from_bytes(each.bitstring, "big") for each in report.data[0].struct.members]
    assert values == list(interval_report(0, {"intervals": 1, **STATE}, 0))


# Failures.


async def test_the_next_agent_finds_everything(
    manager: Primary, connection: NicConnection, nic: NicTarget, program: Program, card_file: Path
) -> None:
    await manager.write(*EVERYTHING, insert(digest("interval_report_t", size=3)))
    await nic.want([], packets=True)
    before = await manager.read(table_entry("", None), digest("interval_report_t"))
    with pytest.raises(CardError, match=r"^nic: another agent serves this card; stop that one first$"):
        NicTarget(Place("nic", card_file, 0))
    await connection.close()
    successor = NicTarget(Place("nic", card_file, 0))
    device = Device(1, successor, program)
    await device.start()
    found = await Primary(device).read(table_entry("", None), digest("interval_report_t"))
    assert sorted(map(str, found)) == sorted(map(str, before))
    await successor.close()
    await connection.open()


async def test_a_card_that_was_reset_gets_everything_again(
    manager: Primary, nic: NicTarget, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    await manager.write(*EVERYTHING)
    note = (await nic.present()).note
    fake_card.power_on()
    with pytest.raises(Refused, match="switch nic: the card was reset a moment ago"):
        await manager.write(delete(table_entry("stamp_port", 1)))
    monkeypatch.setattr(target, "KEEP_S", 0.001)
    nic.keep()
    await until(lambda: len(fake_card.configured) >= 8)  # all four units are reset, then set
    await until(lambda: nic._note.text(nic._token) != "")
    present = await nic.present()
    assert (present.entries, present.note) == (ENTRIES, note)
    await manager.write(delete(table_entry("stamp_port", 1)))


async def test_a_card_that_is_taken_out_and_put_back(
    manager: Primary,
    nic: NicTarget,
    fake_card: FakeCard,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(target, "KEEP_S", 0.001)
    await manager.write(*EVERYTHING)
    fake_card.pull()
    with pytest.raises(Refused, match="switch nic: all registers read as ones") as refused:
        await manager.write(delete(table_entry("stamp_port", 1)))
    assert refused.value.code.name == "UNAVAILABLE"
    assert len(await manager.read(table_entry("", None))) == 4
    nic.keep()
    await until(lambda: nic._card is None)
    with pytest.raises(Refused, match="switch nic: the card does not answer"):
        await manager.write(delete(table_entry("stamp_port", 1)))
    fake_card.power_on()
    await until(lambda: fake_card.configuration["ingress", 0]["check"] == 1)
    await until(lambda: "is back, or was reset" in caplog.text)
    assert caplog.text.count("all registers read as ones") == 1


async def test_a_card_that_was_flashed_has_another_file(
    manager: Primary, nic: NicTarget, fake_card: FakeCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "KEEP_S", 0.001)
    await manager.write(*EVERYTHING)
    wanted = {key: dict(values) for key, values in fake_card.configuration.items()}
    fake_card.path.unlink()
    nic.keep()
    await until(lambda: nic._card is None)
    with FakeCard(tmp_path / "new") as flashed:
        (tmp_path / "new").rename(fake_card.path)
        await until(lambda: flashed.configuration["ingress", 0] == wanted["ingress", 0])
        await until(lambda: flashed.configuration["egress", 1] == wanted["egress", 1])


async def test_another_card_in_its_place_is_left_alone(
    nic: NicTarget, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    nic.listen(heard)
    monkeypatch.setattr(target, "KEEP_S", 0.001)
    nic.keep()
    fake_card.pull()
    await until(lambda: nic._card is None)
    fake_card._ports = 1
    fake_card.power_on()
    await until(lambda: "has other ports than before; start the agent again" in caplog.text)
    assert (heard.connected, fake_card.configured) == (0, [])


async def test_a_card_that_stops_answering_in_a_batch_is_gone(
    manager: Primary, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "TIMEOUT_S", 0.05)
    fake_card.silent.add(("ingress", 1))
    with pytest.raises(Refused, match=r"switch nic: ingress\[1\]: read: not done after 0.05 s") as refused:
        await manager.write(*EVERYTHING)
    assert refused.value.code.name == "UNAVAILABLE"
    assert fake_card.configured == []
