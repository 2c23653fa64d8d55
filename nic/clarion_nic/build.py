# SPDX-License-Identifier: Apache-2.0
"""From source to a bitstream: the block's functions, the shell with our box in it, images, their manifest."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from clarion_base.errors import UserError
from clarion_base.paths import ROOT
from clarion_base.steps import Steps, Word, complain
from clarion_contract import boards
from clarion_contract.boards import Board
from clarion_contract.generate import function_model
from clarion_contract.sizes import power_of_two
from clarion_nic import manifest
from clarion_nic.manifest import Manifest

NIC = ROOT / "nic"
SOURCES = ("contract", "core", "hls", "nic")  # folders that a bitstream is made of
FUNCTIONS = ROOT / "build" / "hls" / "verilog"  # where make hls-verilog leaves them
SHELL = NIC / "open_nic" / "shell.yaml"
PORTS = 2
HLS = ("vitis-run", "vitis_hls", "v++", "bambu")
VERSION = re.compile(r"^vivado v(\d+\.\d+)", re.IGNORECASE | re.MULTILINE)  # not which update of it
BUCKETS = (4096, 65536)


@dataclass(frozen=True)
class Build:
    """The parameters of one build: board, mode and source."""

    board: Board
    mode: str
    buckets: int
    queue_beats: int
    jobs: int
    shell: Path
    out: Path
    commit: str
    changed: bool

    @property
    def tag(self) -> str:
        """The suffix of the shell's build folder."""
        return f"clarion_{self.mode}"

    @property
    def work(self) -> Path:
        """The folder of this build's inputs to the shell's scripts."""
        return self.out / "work"

    @property
    def functions(self) -> Path:
        """The folder of the Verilog of the block's functions."""
        return self.work / "functions"

    @property
    def shell_results(self) -> Path:
        """Where the shell leaves the images."""
        folder = f"{self.board.shell_board}_{self.tag}"
        return self.shell / "build" / folder / "open_nic_shell" / "open_nic_shell.runs" / "impl_1"

    def image(self, suffix: str) -> str:
        """Return the name that an image gets."""
        return f"clarion-{self.board.name}-{self.mode}{suffix}"


def header(build: Build) -> str:
    """Return clarion_build.vh, which the plug-in includes."""
    return (
        f"// Made by nic/build.sh for {build.board.name}, mode {build.mode}.\n"
        f"`define CLARION_BUMP 1'b{int(build.mode == 'bump')}\n"
        f"`define CLARION_CLOCK_HZ {build.board.clock_hz}\n"
        f"`define CLARION_BUCKETS {build.buckets}\n"
        f"`define CLARION_QUEUE_BEATS {build.queue_beats}\n"
        f"`define CLARION_BUILD 32'h{build.commit[:8]}\n"
    )


def constraints(build: Build) -> str:
    """Return clarion.xdc for the board."""
    return (NIC / "open_nic" / "clarion.xdc.in").read_text(encoding="utf-8").replace("@SLR@", build.board.slr)


def check_vivado(steps: Steps, vivado: str) -> None:
    """Refuse another version of Vivado than the shell's IPs are for."""
    shell = yaml.safe_load(SHELL.read_text(encoding="utf-8"))
    name, wanted = shell["name"], shell["vivado"]
    steps.note(f"Vivado {wanted}, which {name} is built with")
    said = steps.run([vivado, "-version"], capture=True)
    if steps.dry_run:
        return
    found = VERSION.search(said)
    if found is None or found[1] != wanted:
        version = f"version {found[1]}" if found else "of an unknown version"
        raise UserError(f"{vivado}: it is {version}, {name} needs {wanted}; source the settings64.sh of that")


def make_functions(steps: Steps, build: Build) -> None:
    """Make Verilog of the block's functions with the HLS tool that is there, and take it."""
    steps.note("the functions of the block, from C++")
    steps.run(["make", "hls-verilog", f"BOARD={build.board.name}"], folder=ROOT)
    made = FUNCTIONS / build.board.name
    for function in function_model.read().functions:
        module = made / f"clarion_{function.name}.sv"
        if not steps.dry_run and not module.is_file():
            raise UserError(f"{module}: not found after make hls-verilog; see what it said")
    steps.run(["rm", "-rf", build.functions])
    steps.run(["mkdir", "-p", build.work])
    steps.run(["cp", "-r", made, build.functions])


def run_shell(steps: Steps, build: Build, vivado: str) -> None:
    """Build the shell with our box in it."""
    steps.note("the shell, with the plug-in in its 250 MHz box; this takes hours")
    steps.write(build.work / "clarion_build.vh", header(build))
    steps.write(build.work / "clarion.xdc", constraints(build))
    stamp = build.commit[:8]
    options = {
        "board": build.board.shell_board,
        "tag": build.tag,
        "rebuild": 1,  # without it a folder of an earlier build makes the script ask, and then do nothing
        "jobs": build.jobs,
        "user_plugin": NIC / "open_nic",
        "num_cmac_port": PORTS,
        "num_phys_func": PORTS,
        "num_qdma": 1,
        "min_pkt_len": 64,
        "max_pkt_len": 9600,
        "build_timestamp": stamp,
        "bitstream_userid": f"0x{stamp}",
        "impl": 1,
        "post_impl": 1,
    }
    script: list[Word] = [
        "-mode",
        "batch",
        "-nojournal",
        "-log",
        build.work / "vivado.log",
        "-source",
        "build.tcl",
    ]
    words = (str(word) for name, value in options.items() for word in (f"-{name}", value))
    steps.run(
        [vivado, *script, "-tclargs", *words],
        folder=build.shell / "script",
        environment={"CLARION_BUILD_DIR": str(build.work)},
    )


def check_results(steps: Steps, build: Build) -> None:
    """Refuse results that the shell's script does not check: no image, or one that misses its timing."""
    steps.note("the images are there, and meet their timing")
    if steps.dry_run:
        return
    for suffix in (".bit", ".mcs"):
        path = build.shell_results / f"open_nic_shell{suffix}"
        if not path.is_file():
            raise UserError(f"{path}: the shell's build did not make it; see {build.work / 'vivado.log'}")
    report = build.shell_results / "open_nic_shell_timing_summary_routed.rpt"
    text = report.read_text(encoding="utf-8", errors="replace") if report.is_file() else ""
    if not re.search(r"^All user specified timing constraints are met\.", text, re.MULTILINE):
        raise UserError(f"{report}: timing is not met, so the images are not taken; see the paths there")


def collect(steps: Steps, build: Build) -> None:
    """Copy the images beside the register map and write the manifest."""
    steps.note("the images, the register map and the manifest")
    registers = ROOT / "contract" / "registers.yaml"
    copies = {
        build.image(".bit"): build.shell_results / "open_nic_shell.bit",
        build.image(".mcs"): build.shell_results / "open_nic_shell.mcs",
        registers.name: registers,
    }
    for name, source in copies.items():
        steps.run(["cp", source, build.out / name])
    blocks = yaml.safe_load(registers.read_text(encoding="utf-8"))["blocks"]
    hashes = {name: "0" * 64 if steps.dry_run else manifest.sha256(build.out / name) for name in copies}
    made = Manifest(
        board=build.board.name,
        mode=build.mode,
        ports=PORTS,
        commit=build.commit,
        changed=build.changed,
        versions={k: f"{b['version']['major']}.{b['version']['minor']}" for k, b in blocks.items()},
        types={kind: f"0x{block['type']:08x}" for kind, block in blocks.items()},
        files=hashes,
    )
    steps.write(build.out / manifest.NAME, made.text())


def check_shell(shell: Path, board: Board) -> None:
    """Refuse a folder that is not the shell, or a shell without the board."""
    for file in ("script/build.tcl", f"script/board_settings/{board.shell_board}.tcl", "plugin/p2p"):
        if not (shell / file).exists():
            raise UserError(f"--shell {shell}: no {file} in it; give a checkout of open-nic-shell")


def source_state() -> tuple[str, bool]:
    """Return the commit of the source, and whether files differ from it."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", ROOT, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    try:
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--", *SOURCES))
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(f"{ROOT}: git does not say which commit this is; build from a checkout") from error


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    options = _parser().parse_args(arguments)
    steps = Steps(options.dry_run)
    try:
        build = _build(options)
        vivado = steps.need_program("vivado", get="install it and source its settings64.sh")
        steps.need_program(*HLS, get="install Vitis HLS of any version from 2022.1 on, or bambu")
        check_vivado(steps, vivado)
        make_functions(steps, build)
        run_shell(steps, build, vivado)
        check_results(steps, build)
        collect(steps, build)
    except (UserError, OSError, KeyboardInterrupt) as error:
        complain("build", str(error) or "interrupted")
        return 1
    steps.note(f"next: nic/package.sh {os.path.relpath(build.out)}")
    return 0


def _build(options: argparse.Namespace) -> Build:
    board = boards.load(options.board)
    if options.shell is None:
        raise UserError("--shell: give the folder of open-nic-shell, here or as OPEN_NIC_SHELL")
    shell = options.shell.resolve()
    check_shell(shell, board)
    commit, changed = source_state()
    if changed and not (options.allow_changes or options.dry_run):
        raise UserError(
            f"{', '.join(SOURCES)}: files differ from the commit; commit them, or give --allow-changes"
        )
    out = options.out or ROOT / "build" / "nic" / f"{board.name}-{options.mode}"
    return Build(
        board=board,
        mode=options.mode,
        buckets=options.buckets,
        queue_beats=options.queue_beats,
        jobs=options.jobs,
        shell=shell,
        out=out.resolve(),
        commit=commit,
        changed=changed,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="build.sh", description="build the bitstream of a card")
    parser.add_argument("--board", required=True, choices=boards.names())
    parser.add_argument(
        "--shell",
        type=Path,
        default=os.environ.get("OPEN_NIC_SHELL") and Path(os.environ["OPEN_NIC_SHELL"]),
        metavar="DIR",
        help="checkout of open-nic-shell; default: $OPEN_NIC_SHELL",
    )
    parser.add_argument("--mode", choices=manifest.MODES, default="nic")
    parser.add_argument("--buckets", type=power_of_two(*BUCKETS), default=BUCKETS[0], help="of each port")
    parser.add_argument(
        "--queue-beats", type=power_of_two(256, 16384), default=4096, help="packet memory, beats of 64 bytes"
    )
    parser.add_argument("--jobs", type=int, choices=range(1, 33), default=8, metavar="1..32")
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: build/nic/BOARD-MODE")
    parser.add_argument("--allow-changes", action="store_true", help="build files that are not committed")
    parser.add_argument("--dry-run", action="store_true", help="only show the commands")
    return parser


if __name__ == "__main__":
    sys.exit(main())
