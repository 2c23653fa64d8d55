# SPDX-License-Identifier: Apache-2.0
"""Reading the fields of a document: every fault is a FaultError whose path leads to the field.

A reader of a part knows paths inside that part only; who calls it puts the rest in front, with `below`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from clarion_base.faults import Code, Fault, FaultError

T = TypeVar("T")


def refused(place: tuple[str | int, ...], reason: str, code: Code = Code.INVALID) -> FaultError:
    """The error for a field; `reason` says what would be right."""
    return FaultError(Fault(place, reason, code))


@contextmanager
def below(*prefix: str | int) -> Iterator[None]:
    """Inside, faults have paths of a part that the document holds under `prefix`."""
    try:
        yield
    except FaultError as error:
        raise FaultError(error.fault.below(*prefix)) from error


def parsed(
    document: Mapping[str, Any], key: str, parser: Callable[[Any], T], place: tuple[str | int, ...] = ()
) -> T:
    """One field, its fault with its path."""
    try:
        return parser(document[key])
    except ValueError as error:
        raise refused((*place, key), str(error)) from error


def optional(document: Mapping[str, Any], key: str, parser: Callable[[Any], T], default: T) -> T:
    """The same of a field that may be missing."""
    return parsed(document, key, parser) if key in document else default
