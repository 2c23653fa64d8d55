# SPDX-License-Identifier: Apache-2.0
"""Commands to a unit: the words, a new request number, and the wait until it is done."""

from __future__ import annotations

import time
from collections.abc import Sequence

from clarion_nic.driver import register_map as registers
from clarion_nic.driver.bar import ALL_ONES, WORD_BYTES, Bar
from clarion_nic.driver.errors import CardError, CardGone

TIMEOUT_S = 2.0  # a card answers between two packets; a simulation takes its time
SPINS = 64  # polls in a row before others get the processor
PAUSE_S = 0.0002
_STATUS = {number: name for name, number in registers.STATUS.items()}


class Mailbox:
    """The mailbox of one unit; its user holds the card's lock.

    A request is a number that differs from the last one, so neither a command that was half written by a
    program that died, nor one that is read twice, does anything.
    """

    def __init__(self, bar: Bar, offset: int, unit: str) -> None:
        self._bar = bar
        self._offset = offset
        self._unit = unit

    def run(self, operation: str, words: Sequence[int]) -> None:
        """Runs a command. CardGone if it does not end, CardError if the unit refuses."""
        last = self._await(self._load("request"), "an earlier request")
        place = self._offset + registers.COMMAND_OFFSET
        for index, word in enumerate((registers.OPERATIONS[operation], *words)):
            self._bar.store(place + WORD_BYTES * index, word)
        request = _after(last)
        self._bar.store(self._offset + registers.MAILBOX["request"].offset, request)
        self._await(request, operation)
        status = self._load("status")
        if status != registers.STATUS["ok"]:
            said = _STATUS.get(status, f"status {status}").replace("_", " ")
            raise CardError(self._bar.card, f"{self._unit}: {operation}: the card refused: {said}")

    def reply(self, word: int) -> int:
        """A word of the last reply."""
        return self._bar.load(self._offset + registers.REPLY_OFFSET + WORD_BYTES * word)

    def _load(self, name: str) -> int:
        return self._bar.load(self._offset + registers.MAILBOX[name].offset)

    def _await(self, request: int, what: str) -> int:
        """Waits until this request has been carried out and returns its number."""
        end = time.monotonic() + TIMEOUT_S
        polls = 0
        while self._load("done") != request:
            polls += 1
            if polls < SPINS:
                continue
            self._bar.check_there()
            if self._load("request") != request:
                raise CardGone(self._bar.card, f"{self._unit}: {what}: the card was reset meanwhile")
            if time.monotonic() >= end:
                reason = f"{self._unit}: {what}: not done after {TIMEOUT_S:g} s; reset the card"
                raise CardGone(self._bar.card, reason)
            time.sleep(PAUSE_S)
        if request == ALL_ONES:  # no number of ours
            self._bar.check_there()
        return request


def _after(request: int) -> int:
    """The next request number; never all ones, because a card that is gone reads as that."""
    return (request + 1) % ALL_ONES
