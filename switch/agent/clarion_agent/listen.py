# SPDX-License-Identifier: Apache-2.0
"""Where the agent listens: HOST:PORT, or a socket in the file system."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from clarion_base.addresses import UNIX, is_loopback
from clarion_base.errors import UserError
from clarion_base.tls import TlsOptions

DEFAULT_LISTEN = "127.0.0.1:9559"
_PATH_BYTES = 107  # of sockaddr_un


def checked_address(text: str) -> str:
    """HOST:PORT or unix:PATH, or UserError."""
    if text.startswith(UNIX):
        path = text.removeprefix(UNIX)
        if not path.startswith("/") or path.startswith("//") or len(os.fsencode(path)) > _PATH_BYTES:
            raise UserError(
                f"--listen: {text}: write unix:/PATH, at most {_PATH_BYTES} bytes, such as "
                "unix:/run/clarion/p4runtime.sock"
            )
        return text
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UserError(f"--listen: {text}: write HOST:PORT, such as {DEFAULT_LISTEN}, or unix:/PATH")
    return text


def check_protected(listen: str, tls: TlsOptions | None, *, insecure: bool) -> None:
    """UserError where anyone on a network could reprogram the switch, unless the user wants it so."""
    host = listen.rpartition(":")[0]
    if insecure or listen.startswith(UNIX) or is_loopback(host):
        return
    if tls is None:
        raise UserError(
            f"--listen: {host}: others could reprogram the switch, and read what is sent in the clear; give "
            "--tls-certificate, --tls-key and --tls-client-ca (`clarion keys` makes them), or --insecure"
        )
    if tls.client_ca is None:
        raise UserError(
            f"--listen: {host}: any client could reprogram the switch; give --tls-client-ca, too "
            "(`clarion keys` makes it), or --insecure"
        )


@contextlib.contextmanager
def socket_file(listen: str) -> Iterator[None]:
    """Makes way for a socket that is bound while this is entered, for its owner only."""
    if not listen.startswith(UNIX):
        yield
        return
    path = Path(listen.removeprefix(UNIX))
    _remove_stale(path)
    before = os.umask(0o177)
    try:
        yield
    finally:
        os.umask(before)


def remove_socket(listen: str) -> None:
    """Removes the socket that was listened at, if it is one."""
    if listen.startswith(UNIX):
        Path(listen.removeprefix(UNIX)).unlink(missing_ok=True)


def _remove_stale(path: Path) -> None:
    """Removes a socket that a killed process has left; UserError for anything else."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"--listen: {path}: {error.strerror}") from error
    if not stat.S_ISSOCK(found.st_mode):
        raise UserError(f"--listen: {path}: is there already, and no socket; choose another path")
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UserError(f"--listen: {path}: {error.strerror}") from error
        else:
            raise UserError(
                f"--listen: {path}: another process serves there; stop it, or choose another path"
            )
