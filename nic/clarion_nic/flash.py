# SPDX-License-Identifier: Apache-2.0
"""Puts a bitstream on a card: program, boot, find it again, see that it is the right one; if not, go back.

What can be wrong is looked for before anything is changed. After that there are only two ends: the new image
runs and says that it is the one of the package, or the card runs its factory image (with --volatile: what is
in its flash). README.md lists the exit statuses.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from clarion.errors import UserError
from clarion_agent.nic.register_map import BLOCK_VERSIONS
from clarion_nic import boards, manifest, mcs, package, pci
from clarion_nic.boards import Board
from clarion_nic.job import Before, Job, attach, detach, release, remember, remove, roll_back, verify
from clarion_nic.manifest import Manifest
from clarion_nic.pci import Card
from clarion_nic.steps import StepError, Steps, complain

DONE, REFUSED, ROLLED_BACK, STUCK = 0, 2, 3, 4
RECOVERY = "see Recovery in nic/DRIVER.md"
OPTIONS = {
    "volatile": "until the next boot: leave the flash alone",
    "write": "write the flash, and leave booting to a restart of the machine",
    "check": "after that restart: does the card hold the package? if not, go back",
    "golden": "only go back to the factory image",
}


class UnchangedError(Exception):
    """A step failed before anything was written to the card."""


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


def carry_out(job: Job, before: Before) -> int:
    """Do it, and go back if that fails; returns the exit status."""
    try:
        if job.way != "check":
            _away(job)
        _install(job)
    except UnchangedError as error:
        _try(lambda: attach(job))
        _try(lambda: release(job, before))
        complain("flash", f"{error}; nothing was written to the card")
        return REFUSED
    except (StepError, KeyboardInterrupt) as error:
        complain("flash", f"{str(error) or 'interrupted'}; going back")
        if _gone_back(job, before) == STUCK:
            return STUCK
        runs = "what is in its flash" if job.way == "volatile" else "its factory image"
        complain("flash", f"the card runs {runs}")
        return ROLLED_BACK
    failed = _try(lambda: release(job, before)) if job.way != "check" else ""
    if failed:
        complain("flash", f"the card is done, but this machine is not as it was before: {failed}")
        return STUCK
    return DONE


def _away(job: Job) -> None:
    try:
        detach(job)
    except (StepError, KeyboardInterrupt) as error:
        raise UnchangedError(str(error) or "interrupted") from error


def _install(job: Job) -> None:
    steps = job.steps
    if job.way == "volatile":
        steps.note("load the bitstream; flash stays as it is")
        job.jtag("volatile", job.image)
    elif job.way != "check":
        steps.note("write the flash, behind the factory image")
        job.jtag("flash", job.board.flash_part, job.image)
    if job.way == "install":
        steps.note("boot from it")
        job.jtag("boot")
    if job.way in ("install", "volatile"):
        attach(job)
    if job.way != "write":
        verify(job)


def go_back(job: Job, before: Before) -> None:
    """Bring up what the card ran before, or its factory image."""
    if job.way in ("check", "golden"):
        detach(job)
    else:
        remove(job)  # what came back, if it did; the rest of detach() was done before
    roll_back(job)
    release(job, before)


def _gone_back(job: Job, before: Before) -> int:
    """Go back whatever happens; returns STUCK if that failed."""
    failed = _try(lambda: go_back(job, before))
    if failed:
        _try(lambda: release(job, before))
        complain("flash", f"going back failed: {failed}; {RECOVERY}")
        return STUCK
    return DONE


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
    except (UserError, KeyboardInterrupt) as error:
        complain("flash", f"{str(error) or 'interrupted'}; the card was not touched")
        return REFUSED


def _run(options: argparse.Namespace, folder: Path) -> int:
    job = _job(options, folder)
    before = remember(job)
    if job.way == "golden":
        return _gone_back(job, before)
    status = carry_out(job, before)
    if job.steps.dry_run:
        job.steps.note("if a step after the removal fails, or the card says anything else:")
        go_back(job, before)
    if status == DONE:
        job.steps.note(_next(job))
    return status


def _next(job: Job) -> str:
    if job.way == "write":
        return "next: switch the machine off and on, then the same command with --check instead of --write"
    return f"next: load the driver; nic/DRIVER.md. The card is {job.card.functions[0]}"


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
    way = next((name for name in OPTIONS if getattr(options, name)), "install")
    mcs_image = folder / made.image(".mcs")
    job = Job(
        steps=steps,
        board=board,
        card=card,
        made=made,
        image=folder / made.image(".bit") if way == "volatile" else mcs_image,
        mcs_image=mcs_image,
        way=way,
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
    ways = parser.add_mutually_exclusive_group()
    for name, what in OPTIONS.items():
        ways.add_argument(f"--{name}", action="store_true", help=what)
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
