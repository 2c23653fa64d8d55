# SPDX-License-Identifier: Apache-2.0
"""nic/flash.sh with stand-in programs: the order of the calls, and the end when one fails."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from unit.nic.machine import BRIDGE, SLOT, Machine, card_info, images


def actions(machine: Machine) -> list[str]:
    """Return Vivado's actions, and the other programs by name."""
    return [
        call.split(" -tclargs ")[1].split()[0] if call.startswith("vivado") else call.split()[0]
        for call in machine.calls()
    ]


def test_flash_in_order(machine: Machine, tmp_path: Path) -> None:
    machine.bind("onic")
    machine.add_interface("onic129s0f0", "0x1002")
    done = machine.flash(images(tmp_path / "package"))
    assert (done.returncode, done.stderr) == (0, "")
    assert actions(machine) == [
        "identify",
        *["setpci"] * 3,  # read, then mask two reports of the bridge
        "flash",
        "boot",
        "setpci",  # the card's memory on
        "clarion",
        *["setpci"] * 2,
    ]
    for number in (0, 1):
        assert (machine.function(number) / "remove").read_text() == "1"
    assert (machine.pci / "devices" / BRIDGE / "rescan").read_text() == "1"
    assert (machine.pci / "drivers_autoprobe").read_text() == "1"


def test_the_bridge_gets_back_what_it_had(machine: Machine, tmp_path: Path) -> None:
    machine.program("setpci", 'case "$*" in *CAP_EXP+8.w) printf "0047\\n2936\\n";; esac')  # SERR# was off
    machine.flash(images(tmp_path / "package"))
    assert machine.calls()[-2:] == [
        f"setpci -s {BRIDGE} COMMAND=0000:0100",
        f"setpci -s {BRIDGE} CAP_EXP+8.w=0004:0004",
    ]


def test_a_machine_that_probes_no_drivers_stays_so(machine: Machine, tmp_path: Path) -> None:
    (machine.pci / "drivers_autoprobe").write_text("0\n")
    assert machine.flash(images(tmp_path / "package")).returncode == 0
    assert (machine.pci / "drivers_autoprobe").read_text() == "0"


def test_volatile_leaves_the_flash_alone(machine: Machine, tmp_path: Path) -> None:
    package = images(tmp_path / "package")
    assert machine.flash(package, "--volatile").returncode == 0
    done = [action for action in actions(machine) if action not in ("setpci", "clarion")]
    assert done == ["identify", "volatile"]
    assert any(call.endswith(f" xcu280_u55c_0 {package}/clarion-u55c-nic.bit") for call in machine.calls())


def test_golden_only_goes_back(machine: Machine, tmp_path: Path) -> None:
    assert machine.flash(images(tmp_path / "package"), "--golden").returncode == 0
    done = [action for action in actions(machine) if action != "setpci"]
    assert done == ["identify", "golden", "boot"]
    assert (machine.pci / "drivers_autoprobe").read_text() == "1"


def test_write_leaves_booting_to_a_restart(machine: Machine, tmp_path: Path) -> None:
    done = machine.flash(images(tmp_path / "package"), "--write")
    assert (done.returncode, done.stderr) == (0, "")
    assert [action for action in actions(machine) if action != "setpci"] == ["identify", "flash"]
    assert "switch the machine off and on" in done.stdout
    assert (machine.pci / "drivers_autoprobe").read_text() == "1"


def test_check_only_asks(machine: Machine, tmp_path: Path) -> None:
    assert machine.flash(images(tmp_path / "package"), "--check").returncode == 0
    assert [action for action in actions(machine) if action != "setpci"] == ["identify", "clarion"]
    assert (machine.function() / "remove").read_text() == ""


def test_check_goes_back_from_another_image(machine: Machine, tmp_path: Path) -> None:
    machine.flash_tools(card_info(ports=1))
    done = machine.flash(images(tmp_path / "package"), "--check")
    assert done.returncode == 3
    assert [action for action in actions(machine) if action != "setpci"][1:] == ["clarion", "golden", "boot"]
    assert (machine.function() / "remove").read_text() == "1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"build": "0x76543210"}, "the card says build 1985229328, the package 19088743"),
        ({"ports": 1}, "the card says ports 1, the package 2"),
        ({"blocks": [{"type": "clarion", "version": "2.0"}]}, "the card says blocks {'clarion': '2.0'}"),
        ({"blocks": 7}, "an answer that cannot be read"),
    ],
    ids=["another build", "another port count", "another version", "nonsense"],
)
def test_a_card_that_is_not_what_it_should_be(
    machine: Machine, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    machine.flash_tools(card_info(**change))
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 3
    assert reason in done.stderr
    assert "flash: the card runs its factory image" in done.stderr
    assert actions(machine)[-6:] == ["setpci", "clarion", "golden", "boot", "setpci", "setpci"]


def test_a_card_without_the_block(machine: Machine, tmp_path: Path) -> None:
    machine.program("clarion", "echo 'clarion: 0000:81:00.0: no Clarion block' >&2; exit 2")
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 3
    assert "clarion: ended with status 2: clarion: 0000:81:00.0: no Clarion block; going back" in done.stderr
    assert actions(machine)[-4:-2] == ["golden", "boot"]


def test_vivado_fails_while_it_writes(machine: Machine, tmp_path: Path) -> None:
    machine.vivado('case "$*" in *" flash "*) exit 1;; esac')
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 3
    assert "clarion" not in actions(machine), "a half-written card is not read"
    assert actions(machine)[4:7] == ["flash", "golden", "boot"]


def test_the_card_does_not_come_back(machine: Machine, tmp_path: Path) -> None:
    card = machine.function()
    away = f"{card}-away"
    machine.vivado(f'case "$*" in *" flash "*) mv {card} {away};; *" golden "*) mv {away} {card};; esac')
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 3
    assert f"{SLOT}.0: not there 0 s after the rescan; going back" in done.stderr


def test_volatile_goes_back_to_what_is_in_flash(machine: Machine, tmp_path: Path) -> None:
    machine.program("clarion", "exit 2")
    done = machine.flash(images(tmp_path / "package"), "--volatile")
    assert done.returncode == 3
    assert "flash: the card runs what is in its flash" in done.stderr
    assert "golden" not in actions(machine)
    assert actions(machine)[-3] == "boot"


def test_going_back_fails_too(machine: Machine, tmp_path: Path) -> None:
    machine.vivado('case "$*" in *" flash "*|*" golden "*) exit 1;; esac')
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 4
    assert "going back failed: vivado_lab: ended with status 1; see Recovery in nic/DRIVER.md" in done.stderr
    assert (machine.pci / "drivers_autoprobe").read_text() == "1", "the machine is restored"


def test_a_card_that_still_runs_what_should_be_erased(machine: Machine, tmp_path: Path) -> None:
    machine.program("vivado_lab")
    done = machine.flash(images(tmp_path / "package"), "--golden")
    assert done.returncode == 4
    assert (
        f"going back failed: {SLOT}.0: still says that it is 903f, which no factory image is" in done.stderr
    )


def test_nothing_written_when_the_link_cannot_be_prepared(machine: Machine, tmp_path: Path) -> None:
    machine.program(
        "setpci", 'case "$*" in *=0000:0100) exit 1;; *CAP_EXP+8.w) printf "0147\\n2936\\n";; esac'
    )
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 2
    assert "nothing was written to the card" in done.stderr
    assert {"flash", "golden", "boot"}.isdisjoint(actions(machine))
    assert (machine.pci / "drivers_autoprobe").read_text() == "1"


def test_an_interrupt_before_anything_is_written_writes_nothing(machine: Machine, tmp_path: Path) -> None:
    interrupt = 'case "$*" in *=0000:0004) kill -TERM $PPID;; *CAP_EXP+8.w) printf "0147\\n2936\\n";; esac'
    machine.program("setpci", interrupt)
    done = machine.flash(images(tmp_path / "package"))
    assert (done.returncode, done.stderr) == (2, "flash: interrupted; nothing was written to the card\n")
    assert {"flash", "golden", "boot"}.isdisjoint(actions(machine))


def test_a_bridge_that_cannot_be_set_back_is_told(machine: Machine, tmp_path: Path) -> None:
    machine.program(
        "setpci", 'case "$*" in *=0100:0100) exit 1;; *CAP_EXP+8.w) printf "0147\\n2936\\n";; esac'
    )
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 4
    assert "the card is done, but this machine is not as it was before: setpci" in done.stderr
    assert "golden" not in actions(machine)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_goes_back(machine: Machine, tmp_path: Path, number: signal.Signals) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("these tests run under nohup")
    machine.vivado(f'case "$*" in *" flash "*) kill -{number} $PPID;; esac')
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 3
    assert "interrupted; going back" in done.stderr
    assert actions(machine)[4:7] == ["flash", "golden", "boot"]


def test_nothing_writes_on_after_an_interrupt(machine: Machine, tmp_path: Path) -> None:
    """Vivado is a script that runs a program, which must end before the factory image is loaded."""
    begun, writer, both = (tmp_path / name for name in ("begun", "writer", "both"))
    os.mkfifo(begun)
    program = f"sh -c 'trap : TERM; echo > {begun}; while :; do read never < {begun}; done'"
    begin = f"{program} & echo $! > {writer}; read line < {begun}; kill -TERM $PPID; wait"
    look = f"read number < {writer}; if [ -e /proc/$number/exe ]; then touch {both}; fi"
    machine.vivado(f'case "$*" in *" flash "*) {begin};; *" golden "*) {look};; esac')
    assert machine.flash(images(tmp_path / "package")).returncode == 3
    assert "golden" in actions(machine)
    assert not both.exists()


def test_a_reader_that_is_gone_stops_no_step(machine: Machine, tmp_path: Path) -> None:
    """As with `flash.sh ... | tee log` and Ctrl-C, which ends tee."""
    machine.flash_tools(card_info(ports=1))
    reader, writer = os.pipe()
    os.close(reader)
    done = machine.flash(images(tmp_path / "package"), stdout=writer)
    os.close(writer)
    assert done.returncode == 3
    assert actions(machine)[-4:-2] == ["golden", "boot"]
    assert (machine.pci / "drivers_autoprobe").read_text() == "1"


def test_a_card_that_cannot_be_taken_back_is_told(machine: Machine, tmp_path: Path) -> None:
    """Nothing was written, but the machine is not restored."""
    interrupt = (
        f'*=0000:0004) rm {machine.function()}; kill -TERM $PPID;; *CAP_EXP+8.w) printf "0147\\n2936\\n"'
    )
    machine.program("setpci", f'case "$*" in {interrupt};; esac')
    done = machine.flash(images(tmp_path / "package"))
    assert done.returncode == 4
    assert f"this machine is not as it was before: {SLOT}.0: not there" in done.stderr
    assert {"flash", "golden", "boot"}.isdisjoint(actions(machine))
