# SPDX-License-Identifier: Apache-2.0
"""A client that waits for each reply, for programs without an event loop."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from clarion_base.errors import RunFailedError
from clarion_switch import protocol
from clarion_switch.process import PROGRAM
from clarion_switch.protocol import Json

REPLY_TIMEOUT_S = 5.0


class Client:
    """One connection. RunFailedError if it breaks, FaultError for a refusal; both name the program."""

    def __init__(self, control: Path, program: str = PROGRAM) -> None:
        self._program = program
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(REPLY_TIMEOUT_S)
            self._socket.connect(str(control))
        except OSError as error:
            self._socket.close()
            raise self._broken(error) from error
        self._replies = self._socket.makefile("rb")

    def ask(self, command: str, **fields: Any) -> Json:
        """The reply to one command."""
        line = protocol.encode({"cmd": command, **fields})
        try:
            self._socket.sendall(line)
            reply = self._replies.readline()
        except OSError as error:
            raise self._broken(error) from error
        if not reply.endswith(b"\n"):
            raise self._broken(OSError("closed"))
        return protocol.checked(json.loads(reply), self._program)

    def close(self) -> None:
        """Ends the connection."""
        self._replies.close()
        self._socket.close()

    def _broken(self, error: OSError) -> RunFailedError:
        return RunFailedError(f"{self._program}: control socket: {error}")
