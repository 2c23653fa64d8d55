# SPDX-License-Identifier: Apache-2.0
"""The steps that flashing is made of: away from the kernel, over JTAG, back, and what the card then says."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_base.steps import StepError, Steps, Word
from clarion_contract.boards import Board
from clarion_nic import pci
from clarion_nic.driver.lock import CardLock
from clarion_nic.driver.place import OPEN_NIC, RESOURCE
from clarion_nic.manifest import Manifest
from clarion_nic.pci import Slot

WAYS = ("install", "volatile", "write", "check", "golden")
POLL_S = 0.1


@dataclass(frozen=True)
class Before:
    """What detach() switches off, as it was: only that is switched on again."""

    autoprobe: str
    report_errors: int  # bit 8 of the bridge's COMMAND, SERR#
    report_fatal: int  # bit 2 of its device control


@dataclass(frozen=True)
class Job:
    """The card to be flashed, the images and the programs."""

    steps: Steps
    board: Board
    slot: Slot
    made: Manifest
    image: Path
    mcs_image: Path
    way: str  # one of WAYS
    vivado: str
    hw_server: str
    cable: str
    wait_s: float

    def jtag(self, action: str, *more: Word) -> None:
        """Run an action of card.tcl in Vivado, over JTAG."""
        script: list[Word] = [
            "-mode",
            "batch",
            "-nojournal",
            "-nolog",
            "-source",
            ROOT / "nic" / "vivado" / "card.tcl",
        ]
        card = [self.hw_server, self.cable, self.board.jtag_device]
        self.steps.run([self.vivado, *script, "-tclargs", action, *card, *more])


def remember(job: Job) -> Before:
    """Read what detach() is going to switch off."""
    probe = pci.text(job.slot.bus / "drivers_autoprobe")
    if job.slot.bridge is None:
        return Before(autoprobe=probe, report_errors=0, report_fatal=0)
    text = job.steps.run(["setpci", "-s", job.slot.bridge, "COMMAND", "CAP_EXP+8.w"], capture=True)
    if job.steps.dry_run:
        text = "0100 0004"  # what most machines have
    try:
        command, control = (int(word, 16) for word in text.split())
    except ValueError as error:
        raise StepError(f"setpci: an answer that cannot be read: {text!r}") from error
    return Before(autoprobe=probe, report_errors=command & 0x0100, report_fatal=control & 0x0004)


def detach(job: Job) -> None:
    """Take the card from the kernel, and keep the loss of its link from stopping the machine."""
    steps, bus = job.steps, job.slot.bus
    steps.note("no driver may take the card before it has been checked")
    steps.set(bus / "drivers_autoprobe", "0")
    if job.slot.bridge is not None:
        steps.note("the link will go down: the bridge must not report that as a fatal error")
        steps.run(["setpci", "-s", job.slot.bridge, "COMMAND=0000:0100"])
        steps.run(["setpci", "-s", job.slot.bridge, "CAP_EXP+8.w=0000:0004"])
    remove(job)


def remove(job: Job) -> None:
    """Remove the card's functions, as far as they are there.

    The kernel kills a process that touches the card's registers at that moment, `clarion nic` or an agent.
    """
    if job.steps.dry_run:
        return _remove(job)
    card_name, registers = job.slot.functions[0], job.slot.path(job.slot.functions[0]) / RESOURCE
    with contextlib.closing(CardLock(card_name, registers)) as lock, lock.held():
        _remove(job)


def _remove(job: Job) -> None:
    for function in reversed(job.slot.functions):
        if job.steps.dry_run or job.slot.path(function).exists():
            job.steps.set(job.slot.path(function) / "remove", "1")


def attach(job: Job) -> None:
    """Look for the card again."""
    steps, function = job.steps, job.slot.functions[0]
    steps.set(job.slot.rescan, "1")
    steps.note(f"wait for {function}, {job.wait_s:g} s at most")
    deadline = time.monotonic() + job.wait_s
    while not steps.dry_run and not job.slot.path(function).exists():
        if time.monotonic() > deadline:
            raise StepError(f"{function}: not there {job.wait_s:g} s after the rescan")
        time.sleep(POLL_S)


def verify(job: Job) -> None:
    """See that the card holds what the package says."""
    steps = job.steps
    steps.note("the card must say what the package says; no driver has switched its memory on")
    steps.run(["setpci", "-s", job.slot.functions[0], "COMMAND=0002:0002"])
    text = steps.run(["clarion", "nic", "info", "--device", job.slot.functions[0], "--json"], capture=True)
    if steps.dry_run:
        return
    try:
        found = json.loads(text)
        kinds = {block["type"]: block["version"] for block in found["blocks"]}
        said = {"ports": found["ports"], "build": int(found["build"], 16), "blocks": kinds}
    except (ValueError, KeyError, TypeError) as error:
        raise StepError(f"clarion nic info: an answer that cannot be read: {error!r}") from error
    wanted = {"ports": job.made.ports, "build": int(job.made.commit[:8], 16), "blocks": job.made.versions}
    for name, value in wanted.items():
        if said[name] != value:
            raise StepError(f"the card says {name} {said[name]}, the package {value}")


def roll_back(job: Job) -> None:
    """Bring the factory image up; after --volatile, what is in flash."""
    if job.way == "volatile":
        job.steps.note("back to what is in flash")
    else:
        job.steps.note("back to the factory image: nothing valid behind it")
        job.jtag("golden", job.board.flash_part, job.mcs_image)
    job.jtag("boot")
    attach(job)
    if job.way != "volatile" and not job.steps.dry_run:
        _check_gone_back(job.slot)


def _check_gone_back(slot: Slot) -> None:
    said = pci.identity(slot.path(slot.functions[0]))
    if OPEN_NIC.match(said):
        raise StepError(f"{slot.functions[0]}: still says that it is {said}, which no factory image is")


def release(job: Job, before: Before) -> None:
    """Switch on again what detach() switched off."""
    job.steps.note("as it was before; a driver takes this card when it is told to")
    job.steps.set(job.slot.bus / "drivers_autoprobe", before.autoprobe)
    if job.slot.bridge is not None:
        job.steps.run(["setpci", "-s", job.slot.bridge, f"COMMAND={before.report_errors:04x}:0100"])
        job.steps.run(["setpci", "-s", job.slot.bridge, f"CAP_EXP+8.w={before.report_fatal:04x}:0004"])
