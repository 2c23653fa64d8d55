# SPDX-License-Identifier: Apache-2.0
"""`clarion runner`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import pwd
import signal
import socket
import stat
from pathlib import Path

from clarion_base.errors import UserError
from clarion_control.commands.arguments import RUNNER_RESULTS, RUNNER_SOCKET
from clarion_control.experiments.rights import UMASK
from clarion_control.experiments.runner import Runner


def add_options(parser: argparse.ArgumentParser) -> None:
    """Where it listens, for whom, and where results go."""
    parser.add_argument(
        "--socket", type=Path, default=RUNNER_SOCKET, metavar="PATH", help=f"default: {RUNNER_SOCKET}"
    )
    parser.add_argument("--user", help="the controller's user, who may ask beside root and this one")
    parser.add_argument(
        "--results",
        type=Path,
        default=RUNNER_RESULTS,
        metavar="DIR",
        help=f"readable for that user's group (default: {RUNNER_RESULTS})",
    )
    parser.add_argument("--listener", type=int, help=argparse.SUPPRESS)  # of a controller's own runner
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    logging.basicConfig(format="clarion runner: %(message)s", level=logging.WARNING)
    os.umask(UMASK)
    user = _user(options.user)
    results = _prepared(options.results, user)
    if options.listener is not None:
        listener = socket.socket(fileno=options.listener)
    else:
        listener = _listener(options.socket, user)
        print(f"clarion runner: at {options.socket}, results in {results}", flush=True)
    users = {0, os.geteuid(), *([user.pw_uid] if user else [])}
    asyncio.run(_serve(Runner(results, options.scenario_library(), users), listener))
    if options.listener is None:
        options.socket.unlink(missing_ok=True)
    return 0


async def _serve(runner: Runner, listener: socket.socket) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await runner.serve(listener)
    await stop.wait()
    await runner.close()


def _user(name: str | None) -> pwd.struct_passwd | None:
    if name is None:
        return None
    try:
        return pwd.getpwuid(int(name)) if name.isdecimal() else pwd.getpwnam(name)
    except (KeyError, OverflowError):
        raise UserError(f"--user: {name}: there is no such user") from None


def _prepared(results: Path, user: pwd.struct_passwd | None) -> Path:
    """The directory of results, readable for the user's group if there is one."""
    place = Path(os.path.realpath(results))
    try:
        if user is not None and user.pw_uid != os.geteuid():
            _check_owners(place)
        place.mkdir(0o750, parents=True, exist_ok=True)
        if user is not None:
            os.chown(place, -1, user.pw_gid)
            place.chmod(0o2750)  # what is made in it has its group
    except OSError as error:
        raise UserError(f"--results: {place}: {error.strerror}; choose another directory") from error
    return place


def _check_owners(place: Path) -> None:
    """UserError if another user could put a link where runs write."""
    for each in (place, *place.parents):
        with contextlib.suppress(FileNotFoundError):
            found = each.stat()
            closed = not found.st_mode & 0o022 or found.st_mode & stat.S_ISVTX
            if found.st_uid not in (0, os.geteuid()) or not closed:
                raise UserError(
                    f"--results: {each} can be changed by other users; choose a directory that only root can"
                )


def _listener(path: Path, user: pwd.struct_passwd | None) -> socket.socket:
    """A listening socket of which only the user, and root, can ask."""
    try:
        with contextlib.ExitStack() as undo:
            path.parent.mkdir(0o755, parents=True, exist_ok=True)
            _take_over(path)
            listener = undo.enter_context(socket.socket(socket.AF_UNIX))
            before = os.umask(0o177)
            undo.callback(os.umask, before)
            listener.bind(str(path))
            os.umask(before)
            if user is not None:
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
            listener.listen()
            undo.pop_all()
            return listener
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"--socket: {path}: {reason}; choose another path, or run as root") from error


def _take_over(path: Path) -> None:
    """Removes the socket of a runner that was killed; UserError if one listens."""
    if path.is_socket():
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(path)) == 0:
                raise UserError(f"--socket: {path}: another runner listens there; stop it")
        path.unlink()
