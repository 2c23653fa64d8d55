# SPDX-License-Identifier: Apache-2.0
"""Puts a bitstream on a card: program, boot, find it again, see that it is the right one; if not, go back.

What can be wrong is looked for before anything is changed. After that there are only two ends: the new image
runs and says that it is the one of the package, or the card runs its factory image (with --volatile: what is
in its flash). README.md lists the exit statuses.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clarion.errors import UserError
from clarion_agent.nic.register_map import BLOCK_VERSIONS
from clarion_nic import boards, manifest, mcs, package, pci
from clarion_nic.boards import NIC, Board
from clarion_nic.manifest import Manifest
from clarion_nic.pci import Card
from clarion_nic.steps import StepError, Steps, Word, complain

DONE, REFUSED, ROLLED_BACK, STUCK = 0, 2, 3, 4
RECOVERY = "see Recovery in nic/DRIVER.md"
POLL_S = 0.1


class UnchangedError(Exception):
    """A step failed before anything was written to the card."""


@dataclass(frozen=True)
class Before:
    """What detach() switches off, as it was: only that is switched on again."""

    autoprobe: str
    report_errors: int  # bit 8 of the bridge's COMMAND, SERR#
    report_fatal: int  # bit 2 of its device control


@dataclass(frozen=True)
class Job:
    """What is to be done to which card, and with which programs."""

    steps: Steps
    board: Board
    card: Card
    made: Manifest
    image: Path
    mcs_image: Path
    volatile: bool
    vivado: str
    hw_server: str
    cable: str
    wait_s: float

    def jtag(self, action: str, *more: Word) -> None:
        """Have Vivado do something with the card."""
        script: list[Word] = [
            "-mode",
            "batch",
            "-nojournal",
            "-nolog",
            "-source",
            NIC / "vivado" / "card.tcl",
        ]
        card = [self.hw_server, self.cable, self.board.jtag_device]
        self.steps.run([self.vivado, *script, "-tclargs", action, *card, *more])


def check_images(made: Manifest, folder: Path, board: Board) -> None:
    """Refuse images of another board or register map, and flash contents that reach the factory image."""
    if made.board != board.name:
        raise UserError(f"--board {board.name}: the package is for {made.board}")
    manifest.check_software(made, BLOCK_VERSIONS)
    made.image(".bit")
    name = made.image(".mcs")
    first, behind = mcs.span(folder / name)
    if first < board.user_address or behind > board.flash_bytes:
        raise UserError(
            f"{name}: fills {first:#010x} to {behind - 1:#010x}; only {board.user_address:#010x} to "
            f"{board.flash_bytes - 1:#010x} is free on a {board.title}"
        )


def check_access(steps: Steps, card: Card) -> None:
    """Refuse to begin what could not be ended for want of rights."""
    steps.need(os.access(card.rescan, os.W_OK), f"{card.rescan}: cannot be written; run this as root")


def remember(job: Job) -> Before:
    """Read what detach() is going to switch off."""
    probe = (job.card.bus / "drivers_autoprobe").read_text(encoding="ascii").strip()
    if job.card.bridge is None:
        return Before(autoprobe=probe, report_errors=0, report_fatal=0)
    text = job.steps.run(["setpci", "-s", job.card.bridge, "COMMAND", "CAP_EXP+8.w"], capture=True)
    command, control = (int(word, 16) for word in text.split()) if text else (0x0100, 0x0004)
    return Before(autoprobe=probe, report_errors=command & 0x0100, report_fatal=control & 0x0004)


def install(job: Job) -> None:
    """Write the image, boot it, and see that it runs."""
    try:
        detach(job)
    except StepError as error:
        raise UnchangedError(str(error)) from error
    steps = job.steps
    if job.volatile:
        steps.note("load the bitstream; flash stays as it is")
        job.jtag("volatile", job.image)
    else:
        steps.note("write the flash behind the factory image, then boot from it")
        job.jtag("flash", job.board.flash_part, job.image)
        job.jtag("boot")
    attach(job)
    verify(job)


def detach(job: Job) -> None:
    """Take the card from the kernel, and keep the loss of its link from stopping the machine."""
    steps, bus = job.steps, job.card.bus
    steps.note("no driver may take the card before it has been checked")
    steps.set(bus / "drivers_autoprobe", "0")
    if job.card.bridge is not None:
        steps.note("the link will go down: the bridge must not report that as a fatal error")
        steps.run(["setpci", "-s", job.card.bridge, "COMMAND=0000:0100"])
        steps.run(["setpci", "-s", job.card.bridge, "CAP_EXP+8.w=0000:0004"])
    remove(job)


def remove(job: Job) -> None:
    """Remove the card's functions, as far as they are there."""
    for function in reversed(job.card.functions):
        if job.steps.dry_run or job.card.path(function).exists():
            job.steps.set(job.card.path(function) / "remove", "1")


def attach(job: Job) -> None:
    """Look for the card again, and switch its memory on: no driver does that here."""
    steps, function = job.steps, job.card.functions[0]
    steps.set(job.card.rescan, "1")
    steps.note(f"wait for {function}, {job.wait_s:g} s at most")
    deadline = time.monotonic() + job.wait_s
    while not steps.dry_run and not job.card.path(function).exists():
        if time.monotonic() > deadline:
            raise StepError(f"{function}: not there {job.wait_s:g} s after the rescan")
        time.sleep(POLL_S)
    steps.run(["setpci", "-s", function, "COMMAND=0002:0002"])


def verify(job: Job) -> None:
    """See that the card holds what the package says."""
    steps = job.steps
    steps.note("the card must say what the package says")
    text = steps.run(["clarion", "nic", "info", "--device", job.card.functions[0], "--json"], capture=True)
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
    remove(job)
    if job.volatile:
        job.steps.note("back to what is in flash")
    else:
        job.steps.note("back to the factory image: nothing valid behind it")
        job.jtag("golden", job.board.flash_part, job.mcs_image)
    job.jtag("boot")
    attach(job)


def release(job: Job, before: Before) -> None:
    """Switch on again what detach() switched off."""
    job.steps.note("as it was before; a driver takes this card when it is told to")
    job.steps.set(job.card.bus / "drivers_autoprobe", before.autoprobe)
    if job.card.bridge is not None:
        job.steps.run(["setpci", "-s", job.card.bridge, f"COMMAND={before.report_errors:04x}:0100"])
        job.steps.run(["setpci", "-s", job.card.bridge, f"CAP_EXP+8.w={before.report_fatal:04x}:0004"])


def carry_out(job: Job, before: Before) -> int:
    """Install, and go back if that fails; returns the exit status."""
    try:
        install(job)
    except UnchangedError as error:
        _try(lambda: attach(job))
        _try(lambda: release(job, before))
        complain("flash", f"{error}; nothing was written to the card")
        return REFUSED
    except (StepError, KeyboardInterrupt) as error:
        complain("flash", f"{str(error) or 'interrupted'}; going back")
        return _go_back(job, before)
    release(job, before)
    return DONE


def _go_back(job: Job, before: Before) -> int:
    failed = _try(lambda: roll_back(job))
    failed = _try(lambda: release(job, before)) or failed
    if failed:
        complain("flash", f"going back failed, too: {failed}; {RECOVERY}")
        return STUCK
    runs = "what is in its flash" if job.volatile else "its factory image"
    complain("flash", f"not installed; the card runs {runs}")
    return ROLLED_BACK


def _try(action: Callable[[], None]) -> str:
    try:
        action()
    except (StepError, KeyboardInterrupt) as error:
        return str(error) or "interrupted"
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: by going back
    try:
        with package.opened(options.package) as folder:
            return _run(options, folder)
    except UserError as error:
        complain("flash", f"{error}; the card was not touched")
        return REFUSED


def _run(options: argparse.Namespace, folder: Path) -> int:
    job = _job(options, folder)
    before = remember(job)
    if options.golden:
        return _go_back_only(job, before)
    status = carry_out(job, before)
    if job.steps.dry_run:
        job.steps.note("if a step after the removal fails, or the card says anything else:")
        roll_back(job)
        release(job, before)
    if status == DONE:
        job.steps.note(f"next: load the driver; nic/DRIVER.md. The card is {job.card.functions[0]}")
    return status


def _go_back_only(job: Job, before: Before) -> int:
    failed = _try(lambda: detach(job)) or _try(lambda: roll_back(job))
    failed = _try(lambda: release(job, before)) or failed
    if failed:
        complain("flash", f"going back failed: {failed}; {RECOVERY}")
        return STUCK
    return DONE


def _job(options: argparse.Namespace, folder: Path) -> Job:
    steps = Steps(options.dry_run)
    board = boards.load(options.board)
    made = manifest.read(folder)
    check_images(made, folder, board)
    card = pci.find(options.sysfs, options.device)
    pci.check(card, board)
    check_access(steps, card)
    vivado = steps.need_program("vivado_lab", "vivado", get="install Vivado Lab Edition (free)")
    steps.need_program("setpci", get="install the package pciutils")
    steps.need_program("clarion", get="activate the environment: . .venv/bin/activate")
    mcs_image = folder / made.image(".mcs")
    job = Job(
        steps=steps,
        board=board,
        card=card,
        made=made,
        image=folder / made.image(".bit") if options.volatile else mcs_image,
        mcs_image=mcs_image,
        volatile=options.volatile,
        vivado=vivado,
        hw_server=options.hw_server,
        cable=options.cable,
        wait_s=options.wait,
    )
    steps.note(f"{board.title}, {made.mode}, commit {made.commit[:12]}: is that the card at the cable?")
    job.jtag("identify")
    return job


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="flash.sh", description="put a bitstream on a card")
    parser.add_argument("--board", required=True, choices=boards.names())
    parser.add_argument("--device", required=True, metavar="BDF", help="PCI address, such as 0000:81:00.0")
    parser.add_argument(
        "--package",
        required=True,
        type=Path,
        metavar="FILE",
        help="of nic/package.sh; or a build folder",
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--volatile", action="store_true", help="until the next boot: leave the flash alone")
    way.add_argument("--golden", action="store_true", help="only go back to the factory image")
    parser.add_argument("--hw-server", default="localhost:3121", metavar="HOST:PORT", help="with the cable")
    parser.add_argument("--cable", default="", metavar="SERIAL", help="which, where there are more")
    parser.add_argument("--wait", type=float, default=30.0, metavar="SECONDS", help="for the card to boot")
    parser.add_argument("--dry-run", action="store_true", help="check everything, but only show the commands")
    parser.add_argument(
        "--sysfs",
        type=Path,
        default=Path("/sys"),
        metavar="DIR",
        help="for tests: a tree to use instead",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
