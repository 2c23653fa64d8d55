# SPDX-License-Identifier: Apache-2.0
"""Selection of a card, and the location of its registers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from clarion_base.errors import UserError

PCI_DEVICES = Path("/sys/bus/pci/devices")
RESOURCE = "resource2"  # OpenNIC shell: BAR 2 of physical function 0 leads to the registers
USER_BOX = 0x100000  # there, the 250 MHz user box
XILINX = 0x10EE
# Physical functions of the OpenNIC shell: 0x90 or 0x91, then 3 for PCIe 3, then f or the function's number.
OPEN_NIC = re.compile(r"9[01]3[0-9a-f]$")
_ADDRESS = re.compile(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """A register window: the name of the card, its file, and the offset of the window."""

    card: str
    path: Path
    offset: int


def place(device: str | None, bar: Path | None, offset: int | None) -> Place:
    """The place of the named card, or of the only one; UserError if there is none."""
    if bar is not None:
        return Place(str(bar), bar, 0 if offset is None else offset)
    address = _only_one() if device is None else _address(device)
    directory = PCI_DEVICES / address
    if not directory.is_dir():
        raise UserError(f"--device {address}: there is no such PCI device; `lspci -d 10ee:` lists the cards")
    path = directory / RESOURCE
    if not path.exists():
        raise UserError(f"{address}: has no {RESOURCE}; name function 0 of an OpenNIC card")
    return Place(address, path, USER_BOX if offset is None else offset)


def named(text: str) -> Place:
    """The place of a card named by its PCI address, or by a path that exists or contains a `/`."""
    if _ADDRESS.fullmatch(text):
        return place(text, None, None)
    return place(None, Path(text), None)


def cards() -> list[str]:
    """PCI addresses of the OpenNIC cards of this machine; function 0 of each."""
    found = []
    for directory in sorted(PCI_DEVICES.glob("*.0")):
        vendor, model = (_hexadecimal(directory / name) for name in ("vendor", "device"))
        if vendor == XILINX and OPEN_NIC.match(f"{model:04x}"):
            found.append(directory.name)
    return found


def _only_one() -> str:
    found = cards()
    if len(found) == 1:
        return found[0]
    if not found:
        raise UserError(
            "no OpenNIC card found (PCI 10ee:903f, 913f, ...); "
            "name one with --device BDF, or a file with --bar"
        )
    raise UserError(f"--device: several cards are there; name one of {', '.join(found)}")


def _address(text: str) -> str:
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise UserError(f"--device {text}: write a PCI address such as 0000:3b:00.0")
    return f"{match[1] or '0000'}:{match[2]}".lower()


def _hexadecimal(path: Path) -> int:
    try:
        return int(path.read_text(), 16)
    except (OSError, ValueError):
        return 0
