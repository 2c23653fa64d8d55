# SPDX-License-Identifier: Apache-2.0
"""The note of an agent for its successor: a text beside the card's lock, valid until the card is reset.

A card keeps a number for us and loses it in a reset. The text is kept together with that number, so that it
is of no more use when the card has forgotten what the text is about.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clarion_nic.driver.card import Card
from clarion_nic.driver.errors import CardError
from clarion_nic.driver.lock import record


class Note:
    """The text about one card. While it is open, no other agent serves the card.

    The caller of the constructor or of `is_served` holds the card's lock.
    """

    def __init__(self, card: str, device: Path) -> None:
        self._path = record(device, ".note")
        self._serving = record(device, ".agent").open("a+")
        try:
            fcntl.flock(self._serving, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._serving.close()
            raise CardError(card, "another agent serves this card; stop that one first") from None

    def close(self) -> None:
        """Ends the service of the card; the text stays."""
        self._serving.close()

    def text(self, token: int) -> str:
        """The text written with the card's present token; empty if there is none."""
        return str(self._content(token).get("text", ""))

    def declared(self, token: int) -> dict[int, bool]:
        """Declarations of wires, by port, written with the card's present token: the card has what counts."""
        declared = self._content(token).get("declared", {})
        return {int(port): bool(value) for port, value in declared.items()}

    def write(self, token: int, text: str, declared: Mapping[int, bool]) -> None:
        """Replaces the text and the declarations in one step; OSError if the file cannot be written."""
        content = {"token": token, "text": text, "declared": dict(declared)}
        temporary = self._path.with_suffix(".new")
        temporary.write_text(json.dumps(content))
        os.replace(temporary, self._path)

    def _content(self, token: int) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            content: dict[str, Any] = json.loads(self._path.read_text())
            if content["token"] == token:
                return content
        return {}


def token_of(card: Card) -> int:
    """The card's token, a new one if it has none."""
    with card.exclusive():
        token = card.token()
        if token == 0:
            token = secrets.randbelow(0xFFFF_FFFE) + 1
            card.set_token(token)
        return token


def is_served(device: Path) -> bool:
    """Whether an agent serves the card at the moment."""
    try:
        with record(device, ".agent").open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
