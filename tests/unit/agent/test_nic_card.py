# SPDX-License-Identifier: Apache-2.0
"""A card's registers: walking the blocks, refusing foreign ones, commands through mailboxes."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from clarion_base.errors import UserError
from clarion_nic.driver import bar, card, lock, mailbox, place
from clarion_nic.driver import register_map as registers
from clarion_nic.driver.card import Card
from clarion_nic.driver.entries import OFF
from clarion_nic.driver.errors import CardError, CardGone, RangeError
from clarion_nic.driver.limits import NO_LIMIT
from clarion_nic.driver.mailbox import Mailbox
from clarion_nic.driver.note import Note, token_of
from clarion_nic.driver.place import Place
from fakes.fake_card import FakeCard

TYPE, VERSION, NEXT, PORT = (registers.HEADER[name].offset for name in ("type", "version", "next", "port"))
XCP = {**OFF["egress"], "xcp": 1, "epoch": 7, "capacity": 0x3F_FFFF_FFFF, "queue_limit": 123_456_789_012}


@pytest.fixture
def opened(card_file: Path) -> Iterator[Card]:
    with Card(Place("nic", card_file, 0)) as found:
        yield found


@pytest.fixture
def still(tmp_path: Path, run_root: Path) -> FakeCard:
    """A card whose hardware is idle, so that every change is a write of the software."""
    return FakeCard(tmp_path / "still")


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        os.sched_yield()


# Walking.


def test_units_are_found_wherever_they_are(opened: Card) -> None:
    assert opened.blocks[0].name == "clarion"
    assert {block.name for block in opened.blocks[1:]} == {
        "ingress port 0", "ingress port 1", "egress port 0", "egress port 1",
    }  # fmt: skip
    assert set(opened.units) == {(kind, port) for kind in card.UNITS for port in (0, 1)}
    assert opened.constant("clock_hz") == 250_000_000
    first = opened.now()
    until(lambda: opened.now() > first)


def test_time_is_of_one_moment_although_it_takes_two_reads(
    opened: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The low half is read just after it has wrapped to 0 and the high half was incremented."""
    times = iter([0x1_FFFF_FFFF, 0x2_0000_0003, 0x2_0000_0005, 0x2_0000_0007, 0x2_0000_0009, 0x2_0000_000B])

    def constant(name: str) -> int:
        now = next(times)
        return now >> 32 if name == "now_high" else now & 0xFFFF_FFFF

    monkeypatch.setattr(opened, "constant", constant)
    assert opened.now() == 0x2_0000_0009


def test_a_newer_minor_version_and_what_it_brings_are_no_matter(fake_card: FakeCard) -> None:
    fake_card.poke(VERSION, 1 << 16 | 9)
    fake_card.poke(fake_card.offset("ingress", 1) + TYPE, 0x4E455721)
    fake_card.poke(fake_card.offset("ingress", 1) + VERSION, 7 << 16)
    with Card(Place("nic", fake_card.path, 0)) as found:
        assert [block.name for block in found.blocks if block.kind is None] == ["type 0x4e455721 port 1"]
        assert set(found.units) == {("ingress", 0), ("egress", 0), ("egress", 1)}
        with pytest.raises(CardError, match=r"^nic: port 1: the card has no ingress unit there; it has egr"):
            found.unit("ingress", 1)


def odd(kind: str, port: int, register: int, value: int) -> Callable[[FakeCard], None]:
    def change(fake: FakeCard) -> None:
        fake.poke((0 if kind == "clarion" else fake.offset(kind, port)) + register, value)

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (odd("clarion", 0, TYPE, 0x12345678), "no Clarion block there: the first register reads 0x12345678 "
         "instead of 0x434c4152; flash a Clarion bitstream, or correct --offset"),
        (odd("clarion", 0, VERSION, 2 << 16), "bitstream is 2.0, this software knows 1.x: "
         "flash a bitstream 1.x or update this software"),
        (odd("clarion", 0, VERSION, 9), "bitstream is 0.9, this software knows 1.x: "
         "flash a bitstream 1.x or use an older release of it"),
        (odd("egress", 1, VERSION, 3 << 16 | 1), "block egress port 1 of the bitstream is 3.1, this software "
         "knows 2.x: flash a bitstream 2.x or update this software"),
        (odd("egress", 1, VERSION, 1 << 16 | 1), "block egress port 1 of the bitstream is 1.1, this software "
         "knows 2.x: flash a bitstream 2.x or use an older release of it"),
        (odd("egress", 0, NEXT, 0x3002), "block egress port 0 at 0x2000 leads to 0x3002, which is no block's "
         "place; flash the bitstream again"),
        (odd("egress", 0, NEXT, 0x10000), "block egress port 0 at 0x2000 leads to 0x10000, which is no "),
        (odd("ingress", 1, NEXT, 0x3000), "block ingress port 1 at 0x5000 leads back to 0x3000; flash"),
        (odd("ingress", 0, NEXT, 0x3000), "block ingress port 0 at 0x3000 leads back to 0x3000; flash"),
        (odd("ingress", 1, PORT, 0), "block ingress port 0 is there twice; flash the bitstream again"),
        (odd("ingress", 1, PORT, 2), "block ingress port 2 has a port beyond the card's 2; flash"),
        (FakeCard.pull, "all registers read as ones: the card is gone, or its memory is off; look at"),
    ],
)  # fmt: skip
def test_a_card_that_is_another_is_refused_and_untouched(
    still: FakeCard, change: Callable[[FakeCard], None], reason: str
) -> None:
    change(still)
    before = still.path.read_bytes()
    with pytest.raises(CardError) as refused:
        Card(Place("nic", still.path, 0))
    assert str(refused.value).startswith(f"nic: {reason}")
    assert still.path.read_bytes() == before


def test_a_block_at_the_end_of_the_window_does_not_fit(still: FakeCard) -> None:
    place = registers.WINDOW_BYTES - 0x100
    still.poke(still.offset("ingress", 1) + NEXT, place)
    for offset, value in ((TYPE, registers.BLOCK_TYPES["egress"]), (VERSION, 2 << 16), (PORT, 1)):
        still.poke(place + offset, value)
    with pytest.raises(CardError, match="block egress port 1 at 0xff00 ends outside the window"):
        Card(Place("nic", still.path, 0))


# The file.


def test_a_card_that_is_taken_off_the_bus_is_not_accessed_any_more(opened: Card, card_file: Path) -> None:
    assert opened.token() == 0
    kept = card_file.rename(card_file.with_name("kept"))
    with pytest.raises(CardGone, match=r"/bar: the card was taken off the bus; rescan it"):
        opened.token()
    card_file.write_bytes(kept.read_bytes())  # the card is back, but the old mapping is stale
    with pytest.raises(CardGone):
        opened.token()


def test_files_that_cannot_be_a_card(tmp_path: Path, run_root: Path) -> None:
    small = tmp_path / "small"
    small.write_bytes(bytes(100))
    for path, offset, reason in (
        (tmp_path / "none", 0, r"/none: not there"),
        (small, 0, "/small: has 0x64 bytes, the registers need 0x10000 from 0x0 on"),
        (small, 4, f"--offset 0x4: use a multiple of {mmap.ALLOCATIONGRANULARITY}"),
        (tmp_path, 0, "Is a directory"),
    ):
        with pytest.raises(CardError, match=reason):
            Card(Place("nic", path, offset))


@pytest.mark.parametrize(
    ("call", "number", "reason"),
    [
        ("os.open", errno.EACCES, "Permission denied; run as root"),
        (
            "mmap.mmap",
            errno.EINVAL,
            "cannot be mapped: Invalid argument; unbind the driver that has the card",
        ),
        ("mmap.mmap", errno.EPERM, "cannot be mapped: Operation not permitted; the kernel is locked down"),
    ],
)
def test_a_kernel_that_keeps_us_out(
    still: FakeCard, monkeypatch: pytest.MonkeyPatch, call: str, number: int, reason: str
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    module, name = call.split(".")
    monkeypatch.setattr(getattr(bar, module), name, refuse)
    with pytest.raises(CardError, match=reason):
        Card(Place("nic", still.path, 0))


def pci(directory: Path, address: str, vendor: int, device: int, *, resource: bool = True) -> Path:
    made = directory / address
    made.mkdir()
    (made / "vendor").write_text(f"{vendor:#06x}\n")
    (made / "device").write_text(f"{device:#06x}\n")
    if resource:
        (made / "resource2").write_bytes(b"")
    return made


def test_the_only_card_is_found_and_others_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "PCI_DEVICES", tmp_path)
    pci(tmp_path, "0000:00:00.0", 0x8086, 0x903F)
    pci(tmp_path, "0000:01:00.0", 0x10EE, 0x5000)
    with pytest.raises(UserError, match="no OpenNIC card found"):
        place.place(None, None, None)
    file = pci(tmp_path, "0000:3b:00.0", 0x10EE, 0x903F) / "resource2"
    pci(tmp_path, "0000:3b:00.1", 0x10EE, 0x913F)
    found = Place("0000:3b:00.0", file, 0x100000)
    assert place.place(None, None, None) == place.place("3B:00.0", None, None) == found
    assert place.place(None, None, 0x2000).offset == 0x2000
    assert place.named("0000:3b:00.0") == found
    assert place.named(str(file)) == Place(str(file), file, 0)
    pci(tmp_path, "0000:5e:00.0", 0x10EE, 0x913F, resource=False)
    for device, reason in (
        (None, "several cards are there; name one of 0000:3b:00.0, 0000:5e:00.0"),
        ("0000:5e:00.0", "0000:5e:00.0: has no resource2; name function 0"),
        ("0000:77:00.0", "--device 0000:77:00.0: there is no such PCI device"),
        ("eth0", "--device eth0: write a PCI address such as 0000:3b:00.0"),
    ):
        with pytest.raises(UserError, match=reason):
            place.place(device, None, None)


# Commands.


def test_what_is_set_is_read_back(opened: Card) -> None:
    for unit in opened.units.values():
        wanted = XCP if unit.kind == "egress" else {"check": 1, "edge": 1, "wire": 1, "epoch": 255}
        if unit.name == "egress[1]":
            wanted = {**wanted, "generation": 1}
        assert opened.configuration(unit) != wanted
        opened.configure(unit, wanted)
        assert opened.configuration(unit) == wanted
        opened.reset(unit)
        state = opened.read(unit)
        assert (state["epoch"], state.get("queue_limit", NO_LIMIT)) == (0, NO_LIMIT)


def test_a_second_reset_is_like_the_first(opened: Card) -> None:
    for unit in opened.units.values():
        found = []
        for _ in range(2):
            opened.reset(unit)
            found.append(opened.configuration(unit))
        assert found[0] == found[1]


def test_wide_and_signed_numbers(opened: Card, fake_card: FakeCard) -> None:
    fake_card.set("egress", 1, tx_bytes=0x123456789ABCDEF0, phi=-5, carry=255, limited=-(1 << 38))
    fake_card.bucket[("egress", 1), 4095] = {"queue_next": 7, "link_next": 0xFFFF}
    unit = opened.unit("egress", 1)
    state = opened.read(unit)
    assert (state["tx_bytes"], state["phi"], state["carry"]) == (0x123456789ABCDEF0, -5, 255)
    assert opened.read(unit, ("phi", "limited")) == {"phi": -5, "limited": -(1 << 38)}
    assert opened.read_bucket(unit, 4095)["link_next"] == 0xFFFF
    assert opened.read(opened.unit("egress", 0))["tx_bytes"] == 0


@pytest.mark.parametrize(
    ("kind", "change", "reason"),
    [
        ("egress", {"capacity": 1 << 38}, "capacity: 274877906944: use 0 to 274877906943"),
        ("egress", {"alpha": 1 << 18}, "alpha: 262144: use 0 to 262143"),
        ("egress", {"gamma": -1}, "gamma: -1: use 0 to 262143"),
        ("egress", {"min_interval": 0}, "min_interval: 0: use at least 1"),
        ("egress", {"generation": 0}, "generation: 0: use at least 1"),
        ("egress", {"generation": 3}, "generation: 3: use 0 to 2"),
        ("egress", {"min_interval": 9, "max_interval": 8}, "min_interval: 9: exceeds max_interval, 8"),
        ("egress", {"max_interval": 1 << 32}, "max_interval: 4294967296: use 0 to 4294967295"),
        ("egress", {"queue_limit": 1 << 40}, "queue_limit: 1099511627776: use 0 to 1099511627775"),
        ("egress", {"epoch": 0}, "epoch: 0: use 1 to 255 while xcp is on"),
        ("egress", {"epoch": 256}, "epoch: 256: use 0 to 255"),
        ("egress", {"capacity": 0}, "capacity: 0: use at least 1 while xcp is on"),
        ("egress", {"xcp": 2}, "xcp: 2: use 0 to 1"),
        ("egress", {"delta": 2}, "delta: there is no such field; there are xcp, stamp, epoch, capacity"),
        ("ingress", {"check": 1}, "epoch: 0: use 1 to 255 while check is on"),
        ("ingress", {"edge": 2}, "edge: 2: use 0 to 1"),
    ],
)
def test_no_wrong_value_reaches_the_card(
    opened: Card, card_file: Path, kind: str, change: dict[str, int], reason: str
) -> None:
    unit = opened.unit(kind, 1)
    before = opened.configuration(unit)
    values = {**(XCP if kind == "egress" else OFF["ingress"]), **change}
    with pytest.raises(RangeError) as refused:
        opened.configure(unit, values)
    assert str(refused.value).startswith(f"nic: {kind}[1].{reason}")
    assert opened.configuration(unit) == before


def test_a_field_that_is_missing_and_a_bucket_that_is_not_there(opened: Card) -> None:
    with pytest.raises(RangeError, match=r"ingress\[0\].edge: is missing"):
        opened.configure(opened.unit("ingress", 0), {"check": 0, "epoch": 0})
    with pytest.raises(CardError, match=r"egress\[0\].bucket: 4096: use 0 to 4095"):
        opened.read_bucket(opened.unit("egress", 0), 4096)


def test_what_is_noted_of_a_simulation_goes_with_its_run(tmp_path: Path, run_root: Path) -> None:
    registers = run_root / "run-1" / "s1.bar"
    registers.parent.mkdir(parents=True)
    with FakeCard(registers), Card(Place("simulation", registers, 0)) as opened:
        token = token_of(opened)
        note = Note("simulation", registers)
        note.write(token, "text", {1: True})
        assert (note.text(token), note.declared(token)) == ("text", {1: True})
        assert (note.text(token + 1), note.declared(token + 1)) == ("", {})
        note.close()
    assert not list(run_root.glob("nic/*"))
    assert {path.name for path in registers.parent.iterdir()} == {
        "s1.bar", "s1.bar.lock", "s1.bar.agent", "s1.bar.note",
    }  # fmt: skip


def test_a_card_that_goes_while_it_is_read_has_no_state(
    opened: Card, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def last_word(mailbox: Mailbox, word: int) -> int:
        fake_card.pull()
        return reply(mailbox, word)

    reply = Mailbox.reply
    monkeypatch.setattr(Mailbox, "reply", last_word)
    with pytest.raises(CardGone, match="all registers read as ones"):
        opened.read(opened.unit("egress", 0))


def test_what_the_card_refuses(opened: Card, fake_card: FakeCard) -> None:
    unit = opened.unit("egress", 0)
    for status, words in (("out_of_range", "out of range"), ("unknown_operation", "unknown operation")):
        fake_card.refuse["egress", 0] = status
        with pytest.raises(CardError, match=rf"^nic: egress\[0\]: configure: the card refused: {words}$"):
            opened.configure(unit, XCP)
    opened.configure(unit, XCP)


def test_a_unit_that_does_not_answer_does_not_hold_us_up(
    opened: Card, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "TIMEOUT_S", 0.05)
    unit = opened.unit("egress", 0)
    fake_card.silent.add(("egress", 0))
    with pytest.raises(CardGone, match=r"egress\[0\]: configure: not done after 0.05 s; reset the card"):
        opened.configure(unit, XCP)
    with pytest.raises(CardGone, match=r"egress\[0\]: an earlier request: not done after 0.05 s"):
        opened.configure(unit, XCP)
    assert not opened.configuration(opened.unit("egress", 1))["xcp"]  # the others do
    fake_card.silent.clear()
    monkeypatch.setattr(mailbox, "TIMEOUT_S", 30)
    opened.configure(unit, {**XCP, "epoch": 9})
    assert [values["epoch"] for _, values in fake_card.configured] == [7, 9]


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (FakeCard.power_on, r"egress\[1\]: configure: the card was reset meanwhile"),
        (FakeCard.pull, "all registers read as ones"),
    ],
)
def test_a_card_that_goes_in_the_middle_of_a_command(
    opened: Card, fake_card: FakeCard, happens: Callable[[FakeCard], None], reason: str
) -> None:
    request = fake_card.offset("egress", 1) + registers.MAILBOX["request"].offset
    fake_card.silent.add(("egress", 1))
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(opened.configure, opened.unit("egress", 1), XCP)
        until(lambda: fake_card.peek(request) != 0)
        happens(fake_card)
        with pytest.raises(CardGone, match=reason):
            waiting.result(30)


def test_request_numbers_never_look_like_a_card_that_is_gone(opened: Card, fake_card: FakeCard) -> None:
    unit = opened.unit("ingress", 0)
    for name in ("request", "done"):
        fake_card.poke(fake_card.offset("ingress", 0) + registers.MAILBOX[name].offset, 0xFFFF_FFFD)
    used = []
    for _ in range(3):
        opened.read(unit)
        used.append(fake_card.peek(fake_card.offset("ingress", 0) + registers.MAILBOX["request"].offset))
    assert used == [0xFFFF_FFFE, 0, 1]


def test_the_token_is_gone_after_a_reset(opened: Card, fake_card: FakeCard) -> None:
    opened.set_token(0xABCD)
    assert opened.token() == 0xABCD
    fake_card.power_on()
    assert opened.token() == 0


# Other programs.


def test_another_program_that_holds_the_card(
    opened: Card, card_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "TIMEOUT_S", 0.05)
    with lock.record(card_file, ".lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(CardError, match=r"another program has held .*\.lock for 0.05 s; wait for it"):
            opened.token()
    assert opened.token() == 0


def test_programs_and_threads_take_turns(card_file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(card_file)
    wrong: list[object] = []

    def work(path: Path, number: int) -> None:
        with Card(Place("nic", path, 0)) as mine:
            unit = mine.unit("ingress", 0)
            for _ in range(20):
                with mine.exclusive():
                    mine.configure(unit, {"check": 0, "edge": 0, "wire": 0, "epoch": number})
                    found = mine.configuration(unit)["epoch"]
                if found != number:
                    wrong.append((number, found))

    threads = [
        threading.Thread(target=work, args=(path, number))
        for number, path in enumerate((card_file, link, card_file, link), 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_locks_that_cannot_be_made(card_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLARION_RUN_ROOT", str(card_file))
    with pytest.raises(UserError, match=r"/nic/.*\.lock: Not a directory$"):
        Card(Place("nic", card_file, 0))
