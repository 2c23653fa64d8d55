# SPDX-License-Identifier: Apache-2.0
"""Errors of the access to a card, each as one line for the user."""

from __future__ import annotations

from clarion_base.errors import UserError


class CardError(UserError):
    """A card that cannot be used, or refuses; named as `CARD: reason`."""

    def __init__(self, card: str, reason: str) -> None:
        super().__init__(f"{card}: {reason}")
        self.card = card
        self.reason = reason


class CardGone(CardError):  # noqa: N818  (what happened to it)
    """A card that no longer answers; it may or may not have carried out the last command."""


class RangeError(CardError):
    """A value out of its register's range, refused before it reaches the card."""

    def __init__(self, card: str, unit: str, field: str, reason: str) -> None:
        super().__init__(card, f"{unit}.{field}: {reason}")
        self.unit = unit
        self.field = field
        self.why = reason
