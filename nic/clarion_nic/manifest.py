# SPDX-License-Identifier: Apache-2.0
"""manifest.json: what a set of images is, which register map it has, and the hash of each file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clarion_base.errors import UserError

NAME = "manifest.json"
FORMAT = "clarion-nic 1"
MODES = ("nic", "bump")


@dataclass(frozen=True)
class Manifest:
    """The properties of a set of images."""

    board: str
    mode: str
    ports: int
    commit: str  # 40 hexadecimal digits; the register `build` holds the first eight
    changed: bool  # the source had changes beside the commit
    versions: dict[str, str]  # of each kind of register block, "major.minor"
    types: dict[str, str]  # "0x434c4152"
    files: dict[str, str]  # name: SHA-256

    def text(self) -> str:
        """Return the file's text."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"

    def image(self, suffix: str) -> str:
        """Return the name of the image with a suffix."""
        found = [name for name in self.files if name.endswith(suffix)]
        if len(found) != 1:
            raise UserError(f"{NAME}: files: {len(found)} of them end in {suffix}, 1 is needed")
        return found[0]


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def read(folder: Path) -> Manifest:
    """Return the manifest of a folder, after every file that it names was checked."""
    path = folder / NAME
    if not path.is_file():
        raise UserError(f"{path}: not found; give what nic/build.sh or nic/package.sh made")
    manifest = _parse(path)
    for name, expected in manifest.files.items():
        if not (folder / name).is_file():
            raise UserError(f"{folder / name}: not found, but the manifest names it; build or copy it again")
        if sha256(folder / name) != expected:
            raise UserError(f"{folder / name}: not the file that was built (SHA-256); build or copy it again")
    return manifest


def _parse(path: Path) -> Manifest:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {error}") from error
    form = values.pop("format", None) if isinstance(values, dict) else None
    if form != FORMAT:
        raise UserError(f"{path}: format: {form!r}, but these scripts read {FORMAT!r}")
    wrong = _wrong_field(values)
    if wrong:
        raise UserError(f"{path}: {wrong}: missing, unknown or not what nic/build.sh writes; build it again")
    return Manifest(**values)


def _wrong_field(values: dict[str, Any]) -> str | None:
    def strings(value: object, pattern: str) -> bool:
        return isinstance(value, dict) and all(
            isinstance(text, str) and re.fullmatch(pattern, text) for text in value.values()
        )

    files = values.get("files")
    checks = {
        "board": isinstance(values.get("board"), str),
        "mode": values.get("mode") in MODES,
        "ports": values.get("ports") in (1, 2),
        "commit": bool(re.fullmatch(r"[0-9a-f]{40}", str(values.get("commit")))),
        "changed": isinstance(values.get("changed"), bool),
        "versions": strings(values.get("versions"), r"\d+\.\d+"),
        "types": strings(values.get("types"), r"0x[0-9a-f]{8}"),
        # A name is a name: it must not lead out of the folder.
        "files": strings(files, r"[0-9a-f]{64}") and all(Path(name).name == name for name in files or ()),
    }
    unknown = next((name for name in values if name not in checks), None)
    return unknown or next((name for name, good in checks.items() if not good), None)


def check_software(
    manifest: Manifest, types: Mapping[str, int], versions: Mapping[str, tuple[int, int]]
) -> None:
    """Refuse images whose registers this software cannot read: other blocks, or another major version."""
    for kind, version in manifest.versions.items():
        if kind not in versions:
            raise UserError(f"block {kind} {version} of the bitstream: unknown to this software; update it")
        if int(version.split(".")[0]) != versions[kind][0]:
            raise UserError(
                f"block {kind}: bitstream {version}, software {versions[kind][0]}.x; "
                "flash a bitstream of that version, or use the software that came with this one"
            )
    for kind, number in types.items():
        known, built = f"{number:#010x}", manifest.types.get(kind)
        if kind not in manifest.versions or built != known:
            raise UserError(f"block {kind}: bitstream {built}, software {known}; build the bitstream again")
