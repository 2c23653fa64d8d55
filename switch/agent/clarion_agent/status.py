# SPDX-License-Identifier: Apache-2.0
"""Refusals of the server: a canonical code and one line that names the entity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from finsy.proto import p4r, rpc_status
from google.protobuf import any_pb2
from grpc import StatusCode, aio

DETAILS_KEY = "grpc-status-details-bin"
_ABORTED = StatusCode.ABORTED
ABORTED = "not written: another update of this batch was refused"


class Refused(Exception):  # noqa: N818  (a reply, not a fault of ours)
    """The refusal of a request, or of one update in it."""

    def __init__(self, code: StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(message: str) -> Refused:
    """A refusal with INVALID_ARGUMENT."""
    return Refused(StatusCode.INVALID_ARGUMENT, message)


class Undecodable:
    """Stands for a request whose bytes do not decode as `message`; carries the refusal."""

    def __init__(self, message: type) -> None:
        self.refusal = invalid(f"not a p4.v1.{message.__name__}")


def number_of(code: StatusCode) -> int:
    """The number of a canonical code in protobuf messages."""
    number: int = code.value[0]
    return number


async def abort(context: aio.ServicerContext[Any, Any], error: Refused) -> NoReturn:
    """Ends a call with a refusal."""
    await context.abort(error.code, error.message)
    raise AssertionError("abort returns")


async def abort_write(
    context: aio.ServicerContext[Any, Any], errors: Sequence[Refused | None], *, others_written: bool
) -> NoReturn:
    """Ends a Write with one p4.v1.Error per update. Valid ones are OK, or ABORTED if none was written."""
    fate = "the others written" if others_written else "none written"
    valid = p4r.Error() if others_written else p4r.Error(canonical_code=number_of(_ABORTED), message=ABORTED)
    await _abort_batch(context, errors, f"updates refused, {fate}", valid)


async def abort_read(context: aio.ServicerContext[Any, Any], errors: Sequence[Refused | None]) -> NoReturn:
    """Ends a Read with one p4.v1.Error per entity asked for."""
    await _abort_batch(context, errors, "requests refused", p4r.Error())


async def _abort_batch(
    context: aio.ServicerContext[Any, Any], errors: Sequence[Refused | None], said: str, valid: p4r.Error
) -> NoReturn:
    refused = [error for error in errors if error is not None]
    message = f"{len(refused)} of {len(errors)} {said}: {refused[0].message}"
    status = rpc_status.Status(code=number_of(StatusCode.UNKNOWN), message=message)
    for error in errors:
        detail = any_pb2.Any()
        detail.Pack(
            valid if error is None else p4r.Error(canonical_code=number_of(error.code), message=error.message)
        )
        status.details.append(detail)
    await context.abort(StatusCode.UNKNOWN, message, ((DETAILS_KEY, status.SerializeToString()),))
    raise AssertionError("abort returns")
