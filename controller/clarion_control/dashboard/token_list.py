# SPDX-License-Identifier: Apache-2.0
"""What the page of tokens says of each, and reads of a new one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from clarion_control.commands.arguments import duration_s
from clarion_control.dashboard import quantities
from clarion_control.errors import FieldError
from clarion_control.model import Token
from clarion_control.services.tokens import WARNING_US

USUAL, NEVER = "90d", "never"


def expiry_us(text: str, now_us: int) -> int | None:
    """When a token ends that is made now, from a text such as 90d; None for "never"."""
    if text == NEVER:
        return None
    try:
        return now_us + int(duration_s(text) * 1e6)
    except argparse.ArgumentTypeError as error:
        raise FieldError("expires", f"{error}, or never") from None


def listed(tokens: Iterable[Token], *, revoked: bool) -> list[Token]:
    """The newest first, with revoked ones or without."""
    return sorted(
        (each for each in tokens if revoked or each.revoked_us is None),
        key=lambda each: each.id,
        reverse=True,
    )


def state(token: Token, now_us: int) -> tuple[str, str] | None:
    """A word and a tone for a token that is over, or soon will be."""
    if token.revoked_us is not None:
        return "revoked", ""
    if token.expires_us is None:
        return None
    left_us = token.expires_us - now_us
    if left_us <= 0:
        return "expired", "bad"
    return (f"in {quantities.age(left_us / 1e6)}", "warn") if left_us < WARNING_US else None
