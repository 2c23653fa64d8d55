# SPDX-License-Identifier: Apache-2.0
"""A machine with a card, made of files: a sysfs tree, programs that record their calls, images.

The programs are shell scripts in the only folder on PATH. Each adds a line to `calls`; the test adds
further actions: a failure, an answer, an effect on the sysfs tree such as removing the card.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from clarion_contract import boards
from clarion_nic import manifest
from clarion_nic.manifest import Manifest

ROOT = Path(__file__).resolve().parents[3]
BRIDGE = "0000:80:01.0"
SLOT = "0000:81:00"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOOLS = (
    "sh",
    "tar",
    "gzip",
    "rm",
    "cp",
    "git",
    "env",
    "cat",
    "mkdir",
    "ls",
    "touch",
    "mv",
    "python3",
    "dirname",
    "pwd",
)

# Placeholders for paths that differ from run to run.
PLACES = {"$PYTHON": sys.executable, "$ROOT": str(ROOT)}


def mcs_line(kind: int, address: int, data: bytes) -> str:
    record = bytes([len(data), address >> 8 & 0xFF, address & 0xFF, kind]) + data
    return f":{(record + bytes([-sum(record) & 0xFF])).hex().upper()}\n"


def mcs(address: int) -> str:
    """Return a small MCS file that fills 32 bytes from an address on."""
    return (
        mcs_line(4, 0, (address >> 16).to_bytes(2, "big"))
        + mcs_line(0, address & 0xFFFF, bytes(range(16)))
        + mcs_line(0, (address & 0xFFFF) + 16, bytes(range(16)))
        + mcs_line(1, 0, b"")
    )


def made(board: str = "u55c", mode: str = "nic", **changes: object) -> Manifest:
    versions = {"clarion": "1.0", "ingress": "2.0", "egress": "2.0"}
    values: dict[str, object] = {
        "board": board,
        "mode": mode,
        "ports": 2,
        "commit": COMMIT,
        "changed": False,
        "versions": versions,
        "types": {"clarion": "0x434c4152", "ingress": "0x434c4149", "egress": "0x434c4145"},
        "files": {},
    }
    return Manifest(**{**values, **changes})  # type: ignore[arg-type]


def images(folder: Path, board: str = "u55c", mode: str = "nic", **changes: object) -> Path:
    """Fill a folder as a build does."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"clarion-{board}-{mode}"
    (folder / f"{stem}.bit").write_bytes(b"a bitstream")
    (folder / f"{stem}.mcs").write_text(mcs(boards.load(board).user_address))
    shutil.copy(ROOT / "contract/registers.yaml", folder)
    files = {path.name: manifest.sha256(path) for path in sorted(folder.iterdir())}
    (folder / manifest.NAME).write_text(made(board, mode, files=files, **changes).text())
    return folder


@dataclass
class Machine:
    """The machine's files, with methods to change them and to run the scripts."""

    folder: Path

    @property
    def sysfs(self) -> Path:
        return self.folder / "sys"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def pci(self) -> Path:
        return self.sysfs / "bus/pci"

    def prepare(self) -> None:
        self.bin.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, tool
            (self.bin / tool).symlink_to(found)
        (self.pci / "devices").mkdir(parents=True)
        (self.pci / "rescan").touch()
        (self.pci / "drivers_autoprobe").write_text("1\n")
        bridge = self.sysfs / "devices/pci0000:80" / BRIDGE
        bridge.mkdir(parents=True)
        (bridge / "rescan").touch()
        (self.pci / "devices" / BRIDGE).symlink_to(bridge)

    def add_card(self, device: str = "0x903f", functions: int = 2) -> None:
        for number in range(functions):
            path = self.sysfs / "devices/pci0000:80" / BRIDGE / f"{SLOT}.{number}"
            path.mkdir()
            (path / "vendor").write_text("0x10ee\n")
            (path / "device").write_text(f"{device}\n")
            (path / "remove").touch()
            (self.pci / "devices" / path.name).symlink_to(path)

    def function(self, number: int = 0) -> Path:
        return self.pci / "devices" / f"{SLOT}.{number}"

    def bind(self, driver: str, number: int = 0) -> None:
        target = self.pci / "drivers" / driver
        target.mkdir(parents=True, exist_ok=True)
        (self.function(number) / "driver").symlink_to(target)

    def add_interface(self, name: str, flags: str, number: int = 0) -> None:
        path = self.function(number) / "net" / name
        path.mkdir(parents=True)
        (path / "flags").write_text(f"{flags}\n")

    def program(self, name: str, does: str = "", after: str = "") -> None:
        """Put a program on PATH that records its call and then runs `does` and `after`, in sh."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {self.folder}/calls\n{does}\n{after}\n')
        path.chmod(0o755)

    def vivado(self, does: str = "") -> None:
        """Put a Vivado on PATH whose `golden` makes the card report its factory image."""
        factory = f'case "$*" in *" golden "*) echo 0x505c > {self.function()}/device;; esac'
        self.program("vivado_lab", does, factory)

    def builder(self, does: str = "", version: str = "v2022.1") -> None:
        """Put a Vivado that can build on PATH: it tells its version, or does what a build is to do."""
        said = f"Vivado {version} (64-bit)\\nSW Build 3526262 on Mon Apr 18 15:47:01 MDT 2022\\n"
        self.program("vivado", f"case \"$*\" in -version) printf '{said}';; *) {does or ':'};; esac")

    def flash_tools(self, info: dict[str, object] | None = None) -> None:
        """Put all programs on PATH that flashing calls, with a card that answers correctly or with `info`."""
        self.vivado()
        self.program("setpci", 'case "$*" in *CAP_EXP+8.w) printf "0147\\n2936\\n";; esac')
        self.program("clarion", f"cat <<'END'\n{json.dumps(info or card_info())}\nEND")

    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    @property
    def run_root(self) -> Path:
        return self.folder / "run"

    def run(
        self, script: str, *words: str | Path, stdout: int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        here = {
            "PATH": str(self.bin),
            "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("base", "contract", "nic")),
            "CLARION_RUN_ROOT": str(self.run_root),
        }
        return subprocess.run(
            [sys.executable, "-m", f"clarion_nic.{script}", *map(str, words)],
            env={**os.environ, **here},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    def flash(
        self, package: Path, *more: str, board: str = "u55c", stdout: int = subprocess.PIPE
    ) -> subprocess.CompletedProcess[str]:
        given = [
            "--board",
            board,
            "--device",
            f"{SLOT}.0",
            "--package",
            str(package),
            "--sysfs",
            str(self.sysfs),
        ]
        return self.run("flash", *given, "--wait", "0", *more, stdout=stdout)

    def told(self, text: str) -> str:
        """Return a script's output with placeholders for paths that differ from run to run."""
        for word, place in {"$MACHINE": str(self.folder), **PLACES}.items():
            text = text.replace(place, word)
        return text


def card_info(**changes: object) -> dict[str, object]:
    """Return the answer of `clarion nic info --json` for a card with the images of images()."""
    versions = {"ingress": "2.0", "egress": "2.0"}
    units = [{"type": kind, "version": each, "port": p} for kind, each in versions.items() for p in (0, 1)]
    blocks = [{"type": "clarion", "version": "1.0", "port": None}, *units]
    return {"bitstream": "1.0", "build": f"0x{COMMIT[:8]}", "ports": 2, "blocks": blocks, **changes}
