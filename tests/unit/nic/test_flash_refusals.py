# SPDX-License-Identifier: Apache-2.0
"""Refusals of nic/flash.sh: with the reason and status 2, and no program called but the JTAG look-up."""

from __future__ import annotations

import fcntl
import io
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from clarion_nic import manifest
from unit.nic.machine import SLOT, Machine, images, mcs


def refused(done: subprocess.CompletedProcess[str], machine: Machine, reason: str) -> None:
    """Check that it was refused and changed nothing."""
    assert reason in done.stderr, done.stderr
    assert "the card was not touched" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode == 2
    assert [call for call in machine.calls() if " identify " not in call] == []
    assert (machine.pci / "drivers_autoprobe").read_text() == "1\n"


def rewrite(package: Path, old: str, new: str) -> None:
    path = package / manifest.NAME
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda p: (p / manifest.NAME).unlink(), "manifest.json: not found"),
    "no JSON": (lambda p: (p / manifest.NAME).write_text("{"), "manifest.json: not JSON"),
    "JSON without an end": (
        lambda p: (p / manifest.NAME).write_text("[" * 100_000),
        "manifest.json: not JSON",
    ),
    "a list": (lambda p: (p / manifest.NAME).write_text("[]"), "format: None"),
    "another format": (lambda p: rewrite(p, "clarion-nic 1", "clarion-nic 2"), "format: 'clarion-nic 2'"),
    "a field too many": (lambda p: rewrite(p, '"mode"', '"modus"'), "modus: missing, unknown"),
    "a wrong commit": (
        lambda p: rewrite(p, '"0123456789abcdef', '"x123456789abcdef'),
        "commit: missing, unknown",
    ),
    "a way out": (
        lambda p: rewrite(p, '"clarion-u55c-nic.bit"', '"../clarion.bit"'),
        "files: missing, unknown",
    ),
    "an image is gone": (lambda p: (p / "clarion-u55c-nic.mcs").unlink(), "but the manifest names it"),
    "an image is another": (
        lambda p: (p / "clarion-u55c-nic.bit").write_bytes(b"x"),
        "not the file that was built",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_package_that_is_not_whole(machine: Machine, tmp_path: Path, fault: str) -> None:
    package = images(tmp_path / "package")
    change, reason = FAULTS[fault]
    change(package)
    refused(machine.flash(package), machine, reason)


def test_another_board(machine: Machine, tmp_path: Path) -> None:
    package = images(tmp_path / "package", board="u250")
    refused(machine.flash(package), machine, "--board u55c: the package is for u250")


def test_registers_of_another_major_version(machine: Machine, tmp_path: Path) -> None:
    versions = {"clarion": "2.0", "ingress": "1.0", "egress": "2.0"}
    package = images(tmp_path / "package", versions=versions)
    refused(machine.flash(package), machine, "block clarion: bitstream 2.0, software 1.x")


TYPES = {"clarion": "0x434c4152", "ingress": "0x434c4149", "egress": "0x434c4145"}


@pytest.mark.parametrize(
    "changes",
    [{"versions": {}}, {"types": {}}, {"types": {**TYPES, "egress": "0x434c4149"}}],
    ids=["no blocks", "no types", "another type"],
)
def test_blocks_that_are_not_those_of_the_software(
    machine: Machine, tmp_path: Path, changes: dict[str, object]
) -> None:
    package = images(tmp_path / "package", **changes)  # type: ignore[arg-type]
    refused(machine.flash(package), machine, "build the bitstream again")


def test_a_newer_minor_version_is_taken(machine: Machine, tmp_path: Path) -> None:
    versions = {"clarion": "1.7", "ingress": "2.0", "egress": "2.0"}
    package = images(tmp_path / "package", versions=versions)
    assert machine.flash(package, "--dry-run").returncode == 0


def test_an_unknown_block(machine: Machine, tmp_path: Path) -> None:
    package = images(tmp_path / "package", versions={"clarion": "1.0", "meter": "1.0"})
    refused(machine.flash(package), machine, "block meter 1.0 of the bitstream: unknown to this software")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (mcs(0x0), "fills 0x00000000 to 0x0000001f; an Alveo U55C boots from 0x01002000"),
        (mcs(0x01001FF0), "fills 0x01001ff0"),
        (mcs(0x02000000), "fills 0x02000000"),
        (mcs(0x08000000), "fills 0x08000000 to 0x0800001f"),
        (mcs(0x01002000).rpartition(":")[0], "not a whole MCS file: no end"),
        (":00000001FF\n", "not a whole MCS file: no data"),
        (":1000xx00" + "00" * 17 + "\n", "not an MCS file"),
    ],
    ids=[
        "at 0",
        "into the factory image",
        "behind the image that boots",
        "over the end",
        "cut off",
        "empty",
        "no number",
    ],
)
def test_flash_contents_that_would_not_do(
    machine: Machine, tmp_path: Path, content: str, reason: str
) -> None:
    package = images(tmp_path / "package")
    path = package / "clarion-u55c-nic.mcs"
    before = manifest.sha256(path)
    path.write_text(content)
    rewrite(package, before, manifest.sha256(path))
    refused(machine.flash(package), machine, reason)


def test_a_package_with_a_link_in_it(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "package.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("manifest.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    refused(machine.flash(path), machine, "manifest.json: not a plain file")


def test_a_package_that_leads_out(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "package.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../evil"), io.BytesIO(b""))
    refused(machine.flash(path), machine, "../evil: not a plain file")


@pytest.mark.parametrize("content", [None, b"", b"no archive"], ids=["missing", "empty", "garbage"])
def test_no_package_at_all(machine: Machine, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "package.tar.gz"
    if content is not None:
        path.write_bytes(content)
    refused(machine.flash(path), machine, "cannot be read as a package")


def test_a_package_that_was_damaged(machine: Machine, tmp_path: Path) -> None:
    path = tmp_path / "package.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(images(tmp_path / "package"), arcname="")
    content = bytearray(path.read_bytes())
    content[20:60] = bytes(40)
    path.write_bytes(content)
    refused(machine.flash(path), machine, "cannot be read as a package")


@pytest.mark.parametrize("device", ["81", "0000:81:00.9", "../81:00.0", ""])
def test_an_address_that_is_none(machine: Machine, tmp_path: Path, device: str) -> None:
    package = images(tmp_path / "package")
    refused(machine.flash(package, "--device", device), machine, "not a PCI address")


def test_no_such_device(bare: Machine, tmp_path: Path) -> None:
    bare.flash_tools()
    refused(bare.flash(images(tmp_path / "package")), bare, f"--device {SLOT}.0: no such PCI device")


def test_a_device_of_another_maker(machine: Machine, tmp_path: Path) -> None:
    (machine.function() / "vendor").write_text("0x8086\n")
    refused(machine.flash(images(tmp_path / "package")), machine, "vendor 0x8086: not AMD's")


@pytest.mark.parametrize(("identity", "card"), [("0x5004", "U250"), ("0xd00c", "U280")])
def test_a_card_that_says_it_is_another(machine: Machine, tmp_path: Path, identity: str, card: str) -> None:
    (machine.function() / "device").write_text(f"{identity}\n")
    refused(machine.flash(images(tmp_path / "package")), machine, f"an Alveo {card}, not an Alveo U55C")


def test_an_interface_that_is_up(machine: Machine, tmp_path: Path) -> None:
    machine.bind("onic", 1)
    machine.add_interface("onic129s0f1", "0x1003", 1)
    reason = "interface onic129s0f1 is up; run `ip link set onic129s0f1 down`"
    refused(machine.flash(images(tmp_path / "package")), machine, reason)


def test_an_unexpected_driver(machine: Machine, tmp_path: Path) -> None:
    machine.bind("vfio-pci")
    refused(machine.flash(images(tmp_path / "package")), machine, "in use by the driver vfio-pci; unbind it")


@pytest.mark.parametrize("program", ["vivado_lab", "setpci", "clarion"])
def test_a_program_that_is_missing(machine: Machine, tmp_path: Path, program: str) -> None:
    (machine.bin / program).unlink()
    done = machine.flash(images(tmp_path / "package"))
    refused(done, machine, f"{program}")
    assert "not found on PATH" in done.stderr


def test_setpci_that_says_nothing(machine: Machine, tmp_path: Path) -> None:
    machine.program("setpci")
    done = machine.flash(images(tmp_path / "package"))
    assert (done.returncode, "setpci: an answer that cannot be read: ''" in done.stderr) == (2, True)


def test_another_board_at_the_jtag_cable(machine: Machine, tmp_path: Path) -> None:
    machine.program("vivado_lab", "exit 1")
    refused(machine.flash(images(tmp_path / "package")), machine, "vivado_lab: ended with status 1")


def test_another_run_on_this_machine(machine: Machine, tmp_path: Path) -> None:
    lock = machine.run_root / "nic/flash.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused(machine.flash(images(tmp_path / "package")), machine, "another flash.sh runs on this machine")


def test_a_kernel_that_is_locked_down(machine: Machine, tmp_path: Path) -> None:
    path = machine.sysfs / "kernel/security/lockdown"
    path.parent.mkdir(parents=True)
    path.write_text("none [integrity] confidentiality\n")
    package = images(tmp_path / "package")
    refused(machine.flash(package), machine, "the kernel is locked down")
    path.write_text("[none] integrity confidentiality\n")
    assert machine.flash(package).returncode == 0


def test_a_check_that_a_driver_could_spoil(machine: Machine, tmp_path: Path) -> None:
    machine.bind("onic", 1)
    refused(
        machine.flash(images(tmp_path / "package"), "--check"), machine, "driver onic; unload it for --check"
    )


@pytest.mark.parametrize("wait", ["nan", "inf", "-1", "soon"])
def test_a_wait_without_end(machine: Machine, tmp_path: Path, wait: str) -> None:
    done = machine.flash(images(tmp_path / "package"), f"--wait={wait}")
    assert (done.returncode, machine.calls()) == (2, [])
    assert "--wait" in done.stderr.splitlines()[-1]
