# SPDX-License-Identifier: Apache-2.0
"""A card's register window in our memory: a PCIe resource file, or a plain file that a simulation serves."""

from __future__ import annotations

import errno
import mmap
import os
import sys
from pathlib import Path

from clarion_nic.driver.errors import CardError, CardGone

ALL_ONES = 0xFFFF_FFFF  # what a PCIe read returns when no device answers
WORD_BYTES = 4


class Bar:
    """So many bytes of a file, mapped. Offsets are in bytes from the start of the window.

    A card's registers take accesses of 32 bits only, at addresses that are multiples of 4. `memoryview.cast`
    gives exactly those: each index is one aligned load or store of an unsigned int. Slices of bytes, or
    `struct`, would copy byte by byte or with whatever width memcpy prefers, and the card would refuse them.
    Stores go out in the order in which they are made, since the kernel maps such files uncached.
    """

    def __init__(self, card: str, path: Path, offset: int, size: int) -> None:
        self.card = card
        self.path = path
        self._file = "" if str(path) == card else f"{path}: "  # as messages name it
        if sys.byteorder != "little":
            raise CardError(card, "registers are little-endian, and this machine is not")
        if offset % mmap.ALLOCATIONGRANULARITY:
            raise CardError(card, f"--offset {offset:#x}: use a multiple of {mmap.ALLOCATIONGRANULARITY}")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_SYNC | os.O_CLOEXEC)
        except OSError as error:
            raise CardError(card, self._file + _why_not(error)) from None
        try:
            self._status = os.fstat(descriptor)
            if self._status.st_size < offset + size:
                present = f"{self._file}has {self._status.st_size:#x} bytes"
                raise CardError(card, f"{present}, the registers need {size:#x} from {offset:#x} on")
            self._map = mmap.mmap(descriptor, size, offset=offset)
        except OSError as error:
            raise CardError(card, f"{self._file}cannot be mapped: {_why_unmapped(error)}") from None
        finally:
            os.close(descriptor)
        self._bytes = memoryview(self._map)
        self._words = self._bytes.cast("I")
        self.size = size
        self.closed = False

    def load(self, offset: int) -> int:
        """The register at an offset."""
        return self._words[_index(offset)]

    def store(self, offset: int, value: int) -> None:
        """Writes the register at an offset."""
        self._words[_index(offset)] = value

    def check_there(self) -> None:
        """CardGone if reads return all ones, as they do without a card. The first word is a block's type."""
        if self.closed:
            raise CardGone(self.card, "is not open any more")
        if not self._same_file():
            raise CardGone(self.card, f"{self._file}the card was taken off the bus; rescan it")
        if self.load(0) == ALL_ONES:
            raise CardGone(
                self.card,
                "all registers read as ones: the card is gone, or its memory is off; look at "
                "`lspci -vv`, write 1 to its file `enable`, or rescan the bus",
            )

    def _same_file(self) -> bool:
        """Whether the path still leads to what is mapped. A card that is taken off the bus takes its file
        along, and the kernel kills (SIGBUS) a process that accesses the mapping then.
        """
        try:
            return os.path.samestat(os.stat(self.path), self._status)
        except OSError:
            return False

    def close(self) -> None:
        """Unmaps it."""
        self.closed = True
        self._words.release()
        self._bytes.release()
        self._map.close()


def _index(offset: int) -> int:
    assert offset % WORD_BYTES == 0, hex(offset)
    return offset // WORD_BYTES


def _why_unmapped(error: OSError) -> str:
    """The kernel says no more than a number where it protects a card's memory from programs."""
    if error.errno == errno.EINVAL:
        return f"{error.strerror}; unbind the driver that has the card, or boot with iomem=relaxed"
    if error.errno == errno.EPERM:
        return f"{error.strerror}; the kernel is locked down: switch secure boot off"
    return str(error.strerror)


def _why_not(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"{error.strerror}; run as root"
    return "not there" if isinstance(error, FileNotFoundError) else str(error.strerror)
