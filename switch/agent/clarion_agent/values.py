# SPDX-License-Identifier: Apache-2.0
"""P4Runtime's byte strings as numbers and back."""

from __future__ import annotations

from grpc import StatusCode

from clarion_agent.status import Refused, invalid


def decode(value: bytes, bits: int, what: str) -> int:
    """An unsigned number of at most so many bits; leading zeros are accepted."""
    if not value:
        raise invalid(f"{what}: is empty; use at least one byte")
    number = int.from_bytes(value, "big")
    if number >> bits:
        raise Refused(StatusCode.OUT_OF_RANGE, f"{what}: 0x{value.hex()[:40]}: has more than {bits} bits")
    return number


def encode(number: int) -> bytes:
    """The shortest byte string of a number; zero has one byte."""
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
