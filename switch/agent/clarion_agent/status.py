# SPDX-License-Identifier: Apache-2.0
"""Refusals of the server: a canonical code and one line that names the entity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from finsy.proto import p4r, rpc_status
from google.protobuf import any_pb2
from grpc import StatusCode, aio

DETAILS_KEY = "grpc-status-details-bin"
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
    context: aio.ServicerContext[Any, Any], errors: Sequence[Refused | None], total: int
) -> NoReturn:
    """Ends a Write with one p4.v1.Error per update: ABORTED for valid ones, which were not written either."""
    refused = [error for error in errors if error is not None]
    message = f"{len(refused)} of {total} updates refused, none written: {refused[0].message}"
    status = rpc_status.Status(code=number_of(StatusCode.UNKNOWN), message=message)
    for error in errors:
        detail = any_pb2.Any()
        detail.Pack(
            p4r.Error(
                canonical_code=number_of(StatusCode.ABORTED if error is None else error.code),
                message=ABORTED if error is None else error.message,
            )
        )
        status.details.append(detail)
    await context.abort(StatusCode.UNKNOWN, message, ((DETAILS_KEY, status.SerializeToString()),))
    raise AssertionError("abort returns")
