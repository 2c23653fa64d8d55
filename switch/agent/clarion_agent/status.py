# SPDX-License-Identifier: Apache-2.0
"""What the server refuses: a canonical code and one line that names the entity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from finsy.proto import p4r, rpc_status
from google.protobuf import any_pb2
from grpc import StatusCode, aio

DETAILS_KEY = "grpc-status-details-bin"
ABORTED = "not written: another update of this batch was refused"


class Refused(Exception):  # noqa: N818  (a reply, not a fault of ours)
    """A request, or a part of it, that is refused."""

    def __init__(self, code: StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(message: str) -> Refused:
    """The request cannot mean anything."""
    return Refused(StatusCode.INVALID_ARGUMENT, message)


class Undecodable:
    """Bytes that are not the message that they should be."""

    def __init__(self, message: type) -> None:
        self.refusal = invalid(f"not a p4.v1.{message.__name__}")


def number_of(code: StatusCode) -> int:
    """The number that a canonical code has in protobuf messages."""
    number: int = code.value[0]
    return number


async def abort(context: aio.ServicerContext[Any, Any], error: Refused) -> NoReturn:
    """Ends a call with a refusal."""
    await context.abort(error.code, error.message)
    raise AssertionError("abort returns")


async def abort_write(
    context: aio.ServicerContext[Any, Any], errors: Sequence[Refused | None], total: int
) -> NoReturn:
    """Ends a Write with one p4.v1.Error per update. Those that are in order were not written either."""
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
