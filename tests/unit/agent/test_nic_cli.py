# SPDX-License-Identifier: Apache-2.0
"""`clarion nic` and `clarion switch serve --nic`: output, changes and refusals."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from clarion import cli
from clarion_contract.settings import PortSettings
from clarion_contract.target import SetEntry
from clarion_nic.commands import nic as nic_cli
from clarion_nic.driver import lock, place, settings, views
from clarion_nic.driver import register_map as registers
from clarion_nic.driver.card import Card, Unit
from clarion_nic.driver.limits import NO_LIMIT, Values
from clarion_nic.driver.place import Place
from clarion_nic.driver.target import NicTarget
from clarion_nic.driver.views import Sample, rates
from fakes.fake_card import FakeCard

Capture = pytest.CaptureFixture[str]


def run(card_file: Path, *arguments: str) -> int:
    return cli.main(["nic", *arguments, "--bar", str(card_file)])


def printed(card_file: Path, capsys: Capture, *arguments: str) -> str:
    assert run(card_file, *arguments) == 0
    return capsys.readouterr().out


def read_json(card_file: Path, capsys: Capture, *arguments: str) -> Any:
    return json.loads(printed(card_file, capsys, *arguments, "--json"))


def lines(text: str) -> list[str]:
    """The lines of a text, with one space between words."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_info(card_file: Path, capsys: Capture) -> None:
    known = read_json(card_file, capsys, "info")
    assert (known["card"], known["bitstream"], known["ports"]) == (str(card_file), "1.0", 2)
    assert known["build"].startswith("0x")
    assert len(known["build"]) == 10
    assert known["blocks"][0] == {"type": "clarion", "version": "1.0", "offset": 0, "port": None}
    assert {(each["type"], each["port"]) for each in known["blocks"][1:]} == {
        ("ingress", 0), ("ingress", 1), ("egress", 0), ("egress", 1),
    }  # fmt: skip
    text = printed(card_file, capsys, "info")
    assert "bitstream 1.0, source " in text
    memory = f"{known['queue_beats'] * 64 // 1024} KiB"
    assert f"each with 4096 buckets and {memory} of packet memory" in text
    assert any(line.startswith("ingress 1 2.0 0x") for line in lines(text))


def test_a_card_is_found_without_being_named(
    tmp_path: Path, card_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    directory = tmp_path / "pci" / "0000:3b:00.0"
    directory.mkdir(parents=True)
    for name, value in (("vendor", "0x10ee\n"), ("device", "0x903f\n")):
        (directory / name).write_text(value)
    (directory / "resource2").symlink_to(card_file)
    monkeypatch.setattr(place, "PCI_DEVICES", tmp_path / "pci")
    monkeypatch.setattr(place, "USER_BOX", 0)
    assert cli.main(["nic", "info"]) == 0
    assert capsys.readouterr().out.startswith("card      0000:3b:00.0\n")


def test_settings_in_peoples_units(card_file: Path, capsys: Capture) -> None:
    given = (
        "capacity=100G", "alpha=0.3", "min-interval=500us", "max_interval=2 s", "stamp=on", "queue_limit=2MB",
    )  # fmt: skip
    text = printed(card_file, capsys, "set", "1", *given)
    assert (
        lines(text)[2] == "1 on 100 Gbit/s 0.3 0.1273 0.1 500 us 2 s 2 on off off off 2 MB"
    )  # beta follows alpha
    with Card(Place("nic", card_file, 0)) as card:
        values = card.configuration(card.unit("egress", 1))
        epoch = values.pop("epoch")
    assert 1 <= epoch <= 255
    assert values == {
        "xcp": 1, "stamp": 1, "capacity": 12_500_000_000, "alpha": 19661, "beta": 8341, "gamma": 6554,
        "min_interval": 134_217, "max_interval": 1 << 29, "generation": 2, "queue_limit": 2_000_000,
    }  # fmt: skip
    printed(
        card_file,
        capsys,
        "set",
        "1",
        "edge=on",
        "check=on",
        "queue_limit=none",
        "capacity=10 Mbit/s",
        "generation=1",
    )
    ports = read_json(card_file, capsys, "ports")
    assert ports[0] == {
        "port": 0, "xcp": None, "stamp": False, "check": False, "edge": False, "wire": False,
        "queue_limit_bytes": None,
    }  # fmt: skip
    assert ports[1]["xcp"] == {
        "capacity_bps": 10_000_000, "alpha": 0.3, "beta": 0.12727, "gamma": 0.1,
        "min_interval_us": 500, "max_interval_us": 2_000_000, "generation": 1, "allow_unstable": False,
    }  # fmt: skip
    assert (ports[1]["check"], ports[1]["edge"], ports[1]["queue_limit_bytes"]) == (True, True, None)
    printed(card_file, capsys, "set", "1", "xcp=off", "check=off", "edge=off", "stamp=off")
    assert lines(printed(card_file, capsys, "ports"))[2:] == [
        f"{port} off - - - - - - - off off off off none" for port in (0, 1)
    ]


def test_epochs_change_when_something_is_switched_on_and_only_then(card_file: Path) -> None:
    seen = []
    steps: Sequence[str] = (
        "xcp=on capacity=1G",
        "capacity=2G",
        "xcp=off",
        "capacity=2G",
        "check=on",
        "edge=on",
    )
    with Card(Place("nic", card_file, 0)) as card:
        for step in steps:
            assert run(card_file, "set", "0", *step.split()) == 0
            units = [card.configuration(card.unit(kind, 0)) for kind in ("egress", "ingress")]
            seen.append(tuple(each["epoch"] for each in units))
    (first, none), *_ = seen
    assert none == 0
    assert [xcp == first for xcp, _ in seen[:3]] == [True, True, True]
    assert all(1 <= xcp <= 255 for xcp, _ in seen)
    assert seen[4][1] == seen[5][1] != 0


def test_controllers_that_are_switched_on_start_from_nothing(
    card_file: Path, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clarion_contract.epochs.random.randint", lambda *_: 41)
    fake_card.set("egress", 0, running_epoch=42)
    assert run(card_file, "set", "0", "capacity=1G") == 0
    assert fake_card.configuration["egress", 0]["epoch"] == 43


BAD_SETTINGS = [
    (["0", "capacity=7"], 'capacity: "7": missing unit; use bit/s, kbit/s, Mbit/s, Gbit/s'),
    (["0", "capacity=9000G"], "CARD: port 0: capacity: 9000000000000: use a whole number of bit/s from 8 to"),
    (["0", "capacity=1G", "alpha=0.6"], "CARD: port 0: alpha: 0.6: must be above 0 and below 0.5553"),
    (["0", "capacity=1G", "alpha=nan"], "CARD: port 0: alpha: nan: must be above 0 and below 0.5553"),
    (["0", "capacity=1G", "alpha=0.4", "beta=0.3"], "CARD: port 0: beta: 0.3: must be 0.2263"),
    (["0", "capacity=1G", "gamma=x"], 'gamma: "x": use a number such as 0.4'),
    (
        ["0", "capacity=1G", "min_interval=2 s"],
        "CARD: port 0: min_interval: 2000000: must be at most max_int",
    ),
    (
        ["0", "capacity=1G", "generation=3"],
        "CARD: port 0: generation: 3: use a whole number from 1 to 2",
    ),
    (
        ["0", "capacity=measured"],
        'CARD: port 0: capacity: "measured": an FPGA NIC does not measure its links; give a number',
    ),
    (
        ["0", "capacity=1G", "generation=two"],
        'generation: "two": use a whole number',
    ),
    (
        ["0", "capacity=1G", "max_interval=20 s"],
        "CARD: port 0: max_interval: 20000000: use a whole number of",
    ),
    (
        ["0", "queue_limit=0 B"],
        "CARD: port 0: queue_limit: 0: use a whole number of bytes from 1 to 10995116",
    ),
    (["0", "queue_limit=2000 GB"], "CARD: port 0: queue_limit: 2000000000000: use a whole number of bytes"),
    (["0", "xcp=on"], "CARD: port 0: capacity: give the capacity in bit/s"),
    (["0", "xcp=off", "gamma=0.1"], "xcp: off, and gamma is given as well"),
    (["0", "check=yes"], 'check: "yes": use on or off'),
    (["0", "check=on", "check=off"], "check: is given twice"),
    (
        ["0", "chekc=on"],
        "chekc=on: write KEY=VALUE with one of xcp, capacity, alpha, beta, gamma, min_interv",
    ),
    (["0", "on"], "on: write KEY=VALUE with one of xcp"),
    (["2"], "CARD: port 2: the card has ports 0 to 1"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_SETTINGS, ids=[message for _, message in BAD_SETTINGS])
def test_bad_settings_are_one_line_and_the_card_stays_as_it_is(
    card_file: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    assert run(card_file, "set", "0", "capacity=1G", "check=on") == 0
    assert run(card_file, "set", "0", "xcp=off") == 0
    capsys.readouterr()
    before = read_json(card_file, capsys, "counters")
    assert run(card_file, "set", *arguments, "edge=on") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"clarion: {message.replace('CARD', str(card_file))}")
    assert said.count("\n") == 1
    assert read_json(card_file, capsys, "counters") == before


def test_a_port_is_set_whole_or_not_at_all(card_file: Path, fake_card: FakeCard, capsys: Capture) -> None:
    fake_card.refuse["ingress", 0] = "out_of_range"
    before = {key: dict(values) for key, values in fake_card.configuration.items()}
    assert run(card_file, "set", "0", "stamp=on", "check=on") == 2
    assert capsys.readouterr().err == (
        f"clarion: {card_file}: ingress[0]: configure: the card refused: out of range\n"
    )
    assert [key for key, _ in fake_card.configured] == [("egress", 0), ("ingress", 0), ("egress", 0)]
    assert fake_card.configuration["egress", 0]["stamp"] == 0
    assert fake_card.configuration["egress", 0]["queue_limit"] == NO_LIMIT
    assert fake_card.configuration["ingress", 0] == before["ingress", 0]


def test_an_interrupt_between_two_units_puts_the_port_back(
    card_file: Path, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def interrupted(card: Card, unit: Unit, values: Values) -> None:
        if unit.kind == "ingress" and values["check"]:
            raise KeyboardInterrupt
        configure(card, unit, values)

    configure = Card.configure
    monkeypatch.setattr(Card, "configure", interrupted)
    assert run(card_file, "set", "0", "stamp=on", "check=on") == 130
    assert fake_card.configured[0][1]["stamp"] == 1
    assert fake_card.configuration["egress", 0]["stamp"] == 0
    assert capsys.readouterr() == ("", "")


def test_a_second_interrupt_waits_until_the_port_is_back(
    card_file: Path, fake_card: FakeCard, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def interrupted(card: Card, unit: Unit, values: Values) -> None:
        if unit.kind == "ingress" and values["check"]:
            raise KeyboardInterrupt
        if not values.get("stamp", 1):
            os.kill(os.getpid(), signal.SIGINT)
        configure(card, unit, values)

    configure = Card.configure
    monkeypatch.setattr(Card, "configure", interrupted)
    assert run(card_file, "set", "0", "stamp=on", "check=on") == 130
    assert [values["stamp"] for (kind, _), values in fake_card.configured if kind == "egress"] == [1, 0]
    assert capsys.readouterr() == ("", "")


def test_no_other_program_comes_between_read_and_write(
    card_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def watched(card: Card, wanted: PortSettings) -> list[SetEntry]:
        with lock.record(card_file, ".lock").open() as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        looked.append("held")
        return updates(card, wanted)

    updates = settings._updates
    monkeypatch.setattr(settings, "_updates", watched)
    with Card(Place("nic", card_file, 0)) as card:
        assert settings.change(card, 0, {"stamp": True}).stamp
    assert looked == ["held"]


def test_a_port_without_the_unit(card_file: Path, fake_card: FakeCard, capsys: Capture) -> None:
    fake_card.poke(fake_card.offset("egress", 0) + registers.HEADER["type"].offset, 0x4E455721)
    assert run(card_file, "set", "0", "check=on") == 0
    assert run(card_file, "set", "0", "stamp=on") == 2
    assert capsys.readouterr().err == (
        f"clarion: {card_file}: port 0: the card has no egress unit at port 0\n"
    )
    text = printed(card_file, capsys, "counters")
    assert "egress tx_packets - 0" in lines(text)


def test_whoever_sets_a_served_card_is_warned(card_file: Path, capsys: Capture) -> None:
    target = NicTarget(Place("nic", card_file, 0))
    assert run(card_file, "set", "0", "stamp=on") == 0
    assert capsys.readouterr().err == "warning: an agent serves this card and is not notified of the change\n"
    target._card.close()  # type: ignore[union-attr]
    target._note.close()
    assert run(card_file, "set", "0", "stamp=off") == 0
    assert capsys.readouterr().err == ""


def test_counters(card_file: Path, fake_card: FakeCard, capsys: Capture) -> None:
    fake_card.set("ingress", 1, rx_packets=1 << 40, lost=3)
    fake_card.set("egress", 0, drop_packets=12, phi=-7)
    text = lines(printed(card_file, capsys, "counters"))
    assert text[0] == "counter port 0 port 1"
    for row in ("ingress rx_packets 0 1099511627776", "ingress lost 0 3", "egress drop_packets 12 0"):
        assert row in text
    ports = read_json(card_file, capsys, "counters")
    assert [each["port"] for each in ports] == [0, 1]
    assert ports[0]["egress"]["phi"] == -7
    assert ports[1]["ingress"]["rx_packets"] == 1 << 40
    assert set(ports[0]["egress"]) == {
        field.name for beat in registers.REPLIES["egress"]["read"] for field in beat
    }


def state(**values: int) -> dict[str, int]:
    names = ("rx_bytes", "rx_packets", "lost", "tx_bytes", "tx_packets", "drop_packets", "intervals")
    return {**dict.fromkeys((*names, "queue_bytes"), 0), **values}


def test_rates_are_by_the_cards_clock() -> None:
    before = Sample(1 << 28, {("ingress", 0): state(rx_bytes=1000), ("egress", 0): state(tx_packets=500)})
    after = Sample(
        3 << 28,
        {
            ("ingress", 0): state(rx_bytes=26000, rx_packets=10, lost=1),
            ("egress", 0): state(tx_packets=100, queue_bytes=1500, intervals=2000),  # was reset
            ("ingress", 1): state(),
        },
    )
    first, second = rates(before, after)
    assert first == {
        "port": 0, "rx_bits_per_s": 100_000.0, "rx_packets_per_s": 5.0, "tx_bits_per_s": 0.0,
        "tx_packets_per_s": 50.0, "dropped_per_s": 0.0, "lost_per_s": 0.5, "queue_bytes": 1500,
        "intervals_per_s": 1000.0,
    }  # fmt: skip
    assert second["tx_packets_per_s"] is None
    assert rates(after, after)[0]["rx_bits_per_s"] is None
    assert lines(views.rates_text([first, second]))[2:] == [
        "0 100 kbit/s 5 0 bit/s 50 0 0 1.5 kB 1000",
        "1 0 bit/s 0 - - - 0 - -",
    ]


def test_watch(
    card_file: Path, fake_card: FakeCard, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    packets = iter((500, 900))

    def wait(seconds: float) -> None:
        assert seconds == 0.5
        if (count := next(packets, None)) is None:
            raise KeyboardInterrupt
        fake_card.set("egress", 1, tx_packets=count)

    monkeypatch.setattr(nic_cli, "sleep", wait)
    assert run(card_file, "watch", "--every", "0.5") == 0
    text = lines(capsys.readouterr().out)
    assert [line.partition(" ")[0] for line in text if line] == ["port", "----", "0", "1"] * 2
    packets = iter((1900,))
    assert run(card_file, "watch", "--every", "0.5", "--count", "1", "--json") == 0
    (found,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found[1]["tx_packets_per_s"] > 0
    assert found[0]["tx_packets_per_s"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["watch", "--count", "0"], "argument --count: 0: use a whole number from 1"),
        (["watch", "--every", "nan"], "argument --every: nan: use a number of seconds such as 1 or 0.5"),
        (["info", "--offset", "-5"], "argument --offset: -5: use a number of bytes such as 0x100000"),
        (["info", "--bar", "x", "--device", "y"], "argument --device: not allowed with argument --bar"),
        (["set", "-1", "stamp=on"], "argument PORT: -1: use the number of a port, from 0"),
        (["set", "x", "stamp=on"], "argument PORT: x: use the number of a port, from 0"),
    ],
)
def test_options_that_cannot_be(arguments: list[str], message: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["nic", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_errors_as_a_command(tmp_path: Path, run_root: Path) -> None:
    still = FakeCard(tmp_path / "still")
    still.poke(registers.HEADER["version"].offset, 2 << 16)
    before = still.path.read_bytes()
    for command in (
        ["nic", "set", "0", "stamp=on", "--bar", str(still.path)],
        ["switch", "serve", "--listen", "127.0.0.1:0", "--nic", str(still.path)],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "clarion", *command], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f"clarion: {still.path}: bitstream is 2.0, this software knows 1.x: flash a bitstream 1.x or "
            "update this software\n"
        )
    assert still.path.read_bytes() == before
