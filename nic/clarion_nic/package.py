# SPDX-License-Identifier: Apache-2.0
"""One file to carry to the machine with the card; the same images make the same bytes."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from clarion_base.errors import UserError
from clarion_base.steps import Steps, Word, complain
from clarion_nic import manifest


def pack(steps: Steps, folder: Path, out: Path) -> None:
    """Write the package of a folder that a build filled."""
    made = manifest.read(folder)
    same = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=0644"]
    create: list[Word] = [
        "tar",
        "--create",
        "--file",
        out,
        "--directory",
        folder,
        "--use-compress-program=gzip -n",
    ]
    steps.run([*create, *same, "--", manifest.NAME, *sorted(made.files)])


@contextlib.contextmanager
def opened(package: Path) -> Iterator[Path]:
    """Give the folder that a package holds, for as long as it is needed; a folder is its own."""
    if package.is_dir():
        yield package
        return
    with tempfile.TemporaryDirectory(prefix="clarion-nic-") as name:
        folder = Path(name)
        _unpack(package, folder)
        yield folder


def _unpack(package: Path, folder: Path) -> None:
    try:
        with tarfile.open(package, "r:gz") as archive:
            for member in archive:
                # Nothing but plain files of plain names: a package may come from anywhere.
                content = archive.extractfile(member) if member.isreg() else None
                if content is None or Path(member.name).name != member.name:
                    raise UserError(f"{package}: {member.name}: not a plain file; use nic/package.sh")
                with (folder / member.name).open("wb") as file:
                    while block := content.read(1 << 20):
                        file.write(block)
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        raise UserError(f"{package}: cannot be read as a package: {error}") from error


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="package.sh", description="pack what nic/build.sh made")
    parser.add_argument("folder", type=Path, help="build/nic/BOARD-MODE")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: FOLDER.tar.gz")
    parser.add_argument("--dry-run", action="store_true", help="only show the commands")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    out = options.out or folder.with_name(folder.name + ".tar.gz")
    try:
        pack(Steps(options.dry_run), folder, out.resolve())
    except (UserError, OSError, KeyboardInterrupt) as error:
        complain("package", str(error) or "interrupted")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
