# SPDX-License-Identifier: Apache-2.0
"""Puts a bitstream on a card: program, boot, find it again, see that it is the right one; if not, go back.

What can be wrong is looked for before anything is changed. After that there are only two ends: the new image
runs and says that it is the one of the package, or the card runs its factory image (with --volatile: what is
in its flash). README.md lists the exit statuses.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from clarion_base import paths
from clarion_base.errors import UserError
from clarion_base.steps import Steps, complain
from clarion_contract import boards
from clarion_contract.boards import Board
from clarion_nic import manifest, mcs, package, pci
from clarion_nic.driver.register_map import BLOCK_TYPES, BLOCK_VERSIONS
from clarion_nic.job import Before, Job, attach, detach, release, remember, remove, roll_back, verify
from clarion_nic.manifest import Manifest
from clarion_nic.pci import Slot

DONE, REFUSED, ROLLED_BACK, STUCK = 0, 2, 3, 4
RECOVERY = "see Recovery in nic/DRIVER.md"
MOST_WAIT_S = 600.0
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
    manifest.check_software(made, BLOCK_TYPES, BLOCK_VERSIONS)
    made.image(".bit")
    name = made.image(".mcs")
    first, behind = mcs.span(folder / name)
    # Not behind that address either: the card would boot what is there now, and so would going back.
    if first != board.user_address or behind > board.flash_bytes:
        raise UserError(
            f"{name}: fills {first:#010x} to {behind - 1:#010x}; an {board.title} boots from "
            f"{board.user_address:#010x}, and its flash ends at {board.flash_bytes - 1:#010x}"
        )


def check_access(steps: Steps, slot: Slot, way: str) -> None:
    """Refuse to begin without the rights to end it, or where the card could not be read afterwards."""
    steps.need(os.access(slot.rescan, os.W_OK), f"{slot.rescan}: cannot be written; run this as root")
    pci.check_lockdown(slot)
    if way == "check":
        pci.check_no_driver(slot)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Lock out other flash runs: they would take what this one switches off for the usual state."""
    path = paths.run_root() / "nic" / "flash.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError("another flash.sh runs on this machine; wait for its end") from error
        yield


def carry_out(job: Job, before: Before) -> int:
    """Flash the card, and go back if that fails; returns the exit status."""
    try:
        if job.way != "check":
            _away(job)
        _install(job)
    except UnchangedError as error:
        complain("flash", f"{error}; nothing was written to the card")
        return _put_back(job, before)
    except (Exception, KeyboardInterrupt) as error:  # whatever it is, the card must not stay half flashed
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


def _put_back(job: Job, before: Before) -> int:
    """Have the kernel take a card back to which nothing was done."""
    failed = _try(lambda: attach(job))
    failed = _try(lambda: release(job, before)) or failed
    if failed:
        complain("flash", f"this machine is not as it was before: {failed}")
        return STUCK
    return REFUSED


def _away(job: Job) -> None:
    try:
        detach(job)
    except (UserError, OSError, KeyboardInterrupt) as error:
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
    """Go back after any failure; returns STUCK if that fails, too."""
    failed = _try(lambda: go_back(job, before))
    if failed:
        _try(lambda: release(job, before))
        complain("flash", f"going back failed: {failed}; {RECOVERY}")
        return STUCK
    return DONE


def _try(action: Callable[[], None]) -> str:
    try:
        action()
    except (Exception, KeyboardInterrupt) as error:  # whatever it is, the next step back must be tried
        return str(error) or "interrupted"
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    options = _parser().parse_args(arguments)
    _end_as_with_ctrl_c()
    with contextlib.ExitStack() as held:
        try:
            job = _job(options, held.enter_context(package.opened(options.package)))
            if not options.dry_run:
                held.enter_context(alone())
            before = remember(job)
        except (UserError, OSError, KeyboardInterrupt) as error:
            complain("flash", f"{str(error) or 'interrupted'}; the card was not touched")
            return REFUSED
        try:
            return _run(job, before)
        except KeyboardInterrupt:  # another one, between two steps back
            complain("flash", f"interrupted while going back; {RECOVERY}")
            return STUCK


def _end_as_with_ctrl_c() -> None:
    """Go back as well when ended from outside, or with the terminal; nohup keeps the latter away."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def _run(job: Job, before: Before) -> int:
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
    return f"next: load the driver; nic/DRIVER.md. The card is {job.slot.functions[0]}"


def _job(options: argparse.Namespace, folder: Path) -> Job:
    steps = Steps(options.dry_run)
    board = boards.load(options.board)
    made = manifest.read(folder)
    check_images(made, folder, board)
    slot = pci.find(options.sysfs, options.device)
    pci.check(slot, board)
    way = next((name for name in OPTIONS if getattr(options, name)), "install")
    check_access(steps, slot, way)
    vivado = steps.need_program("vivado_lab", "vivado", get="install Vivado Lab Edition (free)")
    steps.need_program("setpci", get="install the package pciutils")
    steps.need_program("clarion", get="activate the environment: . .venv/bin/activate")
    mcs_image = folder / made.image(".mcs")
    job = Job(
        steps=steps,
        board=board,
        slot=slot,
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
    parser.add_argument("--wait", type=_seconds, default=30.0, metavar="SECONDS", help="for the card to boot")
    parser.add_argument("--dry-run", action="store_true", help="check everything, but only show the commands")
    parser.add_argument(
        "--sysfs",
        type=Path,
        default=Path("/sys"),
        metavar="DIR",
        help="for tests: a tree to use instead",
    )
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= MOST_WAIT_S:
        raise argparse.ArgumentTypeError(f"{text}: 0 to {MOST_WAIT_S:g} seconds are possible")
    return value


_seconds.__name__ = "number"


if __name__ == "__main__":
    sys.exit(main())
