# SPDX-License-Identifier: Apache-2.0
"""The card as the kernel sees it, read from sysfs; nothing here changes anything."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from clarion_base.errors import UserError
from clarion_contract.boards import Board, all_boards

XILINX = 0x10EE
# A card may have no driver, OpenNIC's, or one of AMD's drivers for the factory image.
DRIVERS = ("onic", "xclmgmt", "xocl")
INTERFACE_UP = 0x1  # IFF_UP


@dataclass(frozen=True)
class Slot:
    """One slot with its functions, the lowest first, and the bridge above it (None: a root bus)."""

    bus: Path  # sysfs/bus/pci
    functions: tuple[str, ...]
    bridge: str | None

    @property
    def rescan(self) -> Path:
        """The file that makes the kernel look for the card again."""
        return self.bus / ("rescan" if self.bridge is None else f"devices/{self.bridge}/rescan")

    def path(self, function: str) -> Path:
        """Return the folder of a function."""
        return self.bus / "devices" / function


def full_name(device: str) -> str:
    """Return DDDD:BB:DD.F of a device given as people do, with or without domain and function."""
    match = re.fullmatch(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}:[0-9a-f]{2})(?:\.([0-7]))?", device.lower())
    if not match:
        raise UserError(f"--device {device}: not a PCI address such as 0000:81:00.0")
    return f"{match[1] or '0000'}:{match[2]}.{match[3] or '0'}"


def find(sysfs: Path, device: str) -> Slot:
    """Return the slot with the function of this address."""
    bus = sysfs / "bus" / "pci"
    name = full_name(device)
    if not (bus / "devices" / name).exists():
        raise UserError(f"--device {name}: no such PCI device; `lspci -d 10ee:` lists what is there")
    slot = name.partition(".")[0]
    functions = tuple(sorted(path.name for path in (bus / "devices").glob(f"{slot}.*")))
    above = Path(os.path.realpath(bus / "devices" / name)).parent.name
    bridge = above if re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", above) else None
    return Slot(bus=bus, functions=functions, bridge=bridge)


def check(slot: Slot, board: Board) -> None:
    """Refuse the wrong board, and a board in use."""
    for function in slot.functions:
        path = slot.path(function)
        if _number(path / "vendor") != XILINX:
            raise UserError(f"--device {function}: vendor {text(path / 'vendor')}: not AMD's (0x10ee)")
        said = identity(path)
        other = next((b for b in all_boards() if said in b.factory_ids and b.name != board.name), None)
        if other is not None:
            raise UserError(
                f"--device {function}: the card says it is an {other.title}, not an {board.title}"
            )
        _check_driver(path, function)


def check_lockdown(slot: Slot) -> None:
    """Refuse a kernel that would not let the card be read after it was written."""
    path = slot.bus.parents[1] / "kernel" / "security" / "lockdown"
    if path.exists() and "[none]" not in text(path):
        raise UserError(f"{path}: {text(path)}: the kernel is locked down; switch secure boot off")


def check_no_driver(slot: Slot) -> None:
    """Refuse a card with a driver: some kernels keep its registers from us then, as if it were wrong."""
    for function in slot.functions:
        driver = _driver(slot.path(function))
        if driver is not None:
            raise UserError(f"--device {function}: in use by the driver {driver}; unload it for --check")


def _driver(path: Path) -> str | None:
    return Path(os.path.realpath(path / "driver")).name if (path / "driver").exists() else None


def _check_driver(path: Path, function: str) -> None:
    driver = _driver(path)
    if driver is not None and driver not in DRIVERS:
        raise UserError(f"--device {function}: in use by the driver {driver}; unbind it first")
    for interface in sorted((path / "net").glob("*")):
        if _number(interface / "flags") & INTERFACE_UP:
            up = interface.name
            raise UserError(f"--device {function}: interface {up} is up; run `ip link set {up} down`")


def identity(path: Path) -> str:
    """Return the PCI device id of a function, four hexadecimal digits."""
    return f"{_number(path / 'device'):04x}"


def text(path: Path) -> str:
    """Return the text of a sysfs file."""
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error


def _number(path: Path) -> int:
    return int(text(path), 16)
