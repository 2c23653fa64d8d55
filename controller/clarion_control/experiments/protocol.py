# SPDX-License-Identifier: Apache-2.0
"""What a controller and the runner of its experiments say to each other: JSON objects, one a line, on a
stream socket of Unix. A connection is for one thing that is asked.

The runner begins with `{"results": DIRECTORY}`. The asker sends one object, as the models here have it. To
`reserve` the runner answers `{"reserved": true}`; to `run` it sends `{"said": LINE}` for each line of the run
and `{"ended": STATUS}` at its end, a status as of subprocess.Popen. `{"refused": REASON}` ends either. An
asker of a run that says anything more, or goes away, has it stopped.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from clarion_base.errors import UserError

MAX_ASKED_BYTES = 4 * 1024 * 1024  # 50 settings of 10,000 characters, as JSON escapes them
MAX_TOLD_BYTES = 64 * 1024
_PEER = struct.Struct("3i")  # struct ucred: pid, uid, gid (unix(7))

Number = Annotated[int, Field(ge=0, lt=2**63)]


class RunnerError(UserError):
    """The runner does not do what it was asked, and says why."""


class RunnerAwayError(RunnerError):
    """There is no runner at the socket, or it has gone."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Place(_Message):
    """The directory of an experiment's results: its number, and when it was made, since a new store counts
    from 1 again.
    """

    experiment: Number
    created_us: Number


class Reserve(Place):
    """Makes the directory."""

    do: Literal["reserve"] = "reserve"


class Run(Place):
    """Runs a scenario that ships, into the directory, which is reserved and empty."""

    do: Literal["run"] = "run"
    scenario: str
    engine: str
    settings: dict[str, Any]
    repeat: int


_ASKED: TypeAdapter[Reserve | Run] = TypeAdapter(Annotated[Reserve | Run, Field(discriminator="do")])
STOP = b'{"do":"stop"}\n'


def asked(line: bytes) -> Reserve | Run:
    """What an asker wants; RunnerError names the first field that is wrong."""
    try:
        return _ASKED.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "request"
        raise RunnerError(f"{where}: {first['msg']}") from error


def asking(message: Reserve | Run) -> bytes:
    """A message as a line."""
    return message.model_dump_json().encode() + b"\n"


def told(line: bytes) -> tuple[str, Any]:
    """What the runner says, and of what kind; RunnerAwayError if it has gone."""
    if not line.endswith(b"\n"):
        raise RunnerAwayError("the runner has gone; see its log")
    [(kind, value)] = json.loads(line).items()
    if kind == "refused":
        raise RunnerError(str(value))
    return kind, value


def telling(kind: str, value: object) -> bytes:
    """The same as a line."""
    return json.dumps({kind: value}).encode() + b"\n"


def peer_uid(connection: socket.socket) -> int:
    """The user at the other end of a connected Unix socket, as the kernel knows it."""
    read = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    uid: int = _PEER.unpack(read)[1]
    return uid
