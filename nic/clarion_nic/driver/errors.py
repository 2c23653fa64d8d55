# SPDX-License-Identifier: Apache-2.0
"""What goes wrong between us and a card, each as one line for the user."""

from __future__ import annotations

from clarion_base.errors import UserError


class CardError(UserError):
    """A card that cannot be used, or refuses; named as `CARD: reason`."""

    def __init__(self, card: str, reason: str) -> None:
        super().__init__(f"{card}: {reason}")
        self.card = card
        self.reason = reason


class CardGone(CardError):  # noqa: N818  (what happened to it)
    """A card that does not answer any more; it may have done the last command or not."""


class RangeError(CardError):
    """A value that no register holds. The card has not heard of it."""

    def __init__(self, card: str, unit: str, field: str, reason: str) -> None:
        super().__init__(card, f"{unit}.{field}: {reason}")
        self.unit = unit
        self.field = field
        self.why = reason
