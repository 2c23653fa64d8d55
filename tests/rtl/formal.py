# SPDX-License-Identifier: Apache-2.0
"""Proofs about the modules of hls/rtl: Yosys makes a circuit of a module and its properties, ABC proves them.

ABC's `pdr` searches an inductive invariant and checks it, so what it proves holds for any number of clocks.
A property whose name begins with `reaches_` says that something never happens, and is there to be refuted:
else the others might hold because their assumptions exclude all that is of interest.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clarion_contract.generate import function_model
from rtl.simulation import ROOT

SHELL = ROOT / "hls" / "rtl"
PROPERTIES = ROOT / "hls" / "formal"
REGISTERS = ROOT / "nic" / "rtl" / "clarion_registers_pkg.sv"
PACKAGES = (REGISTERS, SHELL / "clarion_sizes_pkg.sv", SHELL / "clarion_block_pkg.sv")
TIME_LIMIT = 120  # seconds for one proof, several times what the slowest takes

FRAMES = 100  # clocks within which a fault has to be seen

ASSERTED_ALONE = re.compile(r"Output 0 of miter \S+ was asserted in frame \d+")
ASSERTED = re.compile(r"Output +(\d+) was asserted in frame +\d+")
SUMMARY = re.compile(r"All = (\d+)\. Proved = (\d+)\. Disproved = (\d+)\. Undecided = (\d+)\.")


@dataclass(frozen=True)
class Proof:
    """Module `clarion_NAME` with the properties of its file in hls/formal."""

    name: str
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    parts: Sequence[str] = ()  # the other modules of hls/rtl that it is made of
    beside: Sequence[str] = ()  # the other files of hls/formal that its properties need
    functions: Sequence[str] = ()  # of contract/functions.yaml, in whose place may come anything
    # Of one of them, a field of the arguments and one of the results that has the lowest bit of that.
    passes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)  # what constants of the packages are instead

    def __str__(self) -> str:
        return "_".join([self.name, *(f"{key}_{value}" for key, value in self.parameters.items())])

    @property
    def module(self) -> Path:
        return SHELL / f"clarion_{self.name}.sv"

    @property
    def properties(self) -> Path:
        return PROPERTIES / f"clarion_{self.name}_properties.sv"


@dataclass(frozen=True)
class Verdict:
    """Names of properties, without those of the instances that they are in."""

    proved: frozenset[str]
    refuted: frozenset[str]

    @property
    def broken(self) -> frozenset[str]:
        """What was refuted and should hold."""
        return frozenset(name for name in self.refuted if not name.startswith("reaches_"))

    @property
    def unreached(self) -> frozenset[str]:
        """What was proved never to happen, and should."""
        return frozenset(name for name in self.proved if name.startswith("reaches_"))


def judge(proof: Proof, work: Path, instead: Mapping[Path, Path] | None = None) -> Verdict:
    """Prove or refute each property, with some sources replaced by others; files are left in `work`."""
    names = _circuit(proof, work, instead or {})
    # Where a module is there several times, so are the properties inside: of each name, all have to hold.
    command = ["yosys-abc", "-c", f"read_aiger {work}/circuit.aig; fold; pdr -a"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIME_LIMIT, cwd=work)
    summary = SUMMARY.search(done.stdout)
    assert summary, f"{proof}: ABC failed\n{done.stdout}{done.stderr}"
    refuted = {int(found) for found in ASSERTED.findall(done.stdout)}
    counts = [len(names), len(names) - len(refuted), len(refuted), 0]
    assert [int(count) for count in summary.groups()] == counts, f"{proof}: not all decided\n{done.stdout}"
    broken = frozenset(names[at] for at in refuted)
    return Verdict(proved=frozenset(names) - broken, refuted=broken)


def refutes(proof: Proof, name: str, work: Path, instead: Mapping[Path, Path]) -> bool:
    """Search a run of up to FRAMES clocks in which a property does not hold; all others are left out."""
    for at, known in enumerate(_circuit(proof, work, instead)):
        if known == name:
            search = f"cone -s -O {at}; bmc3 -F {FRAMES} -T {TIME_LIMIT // 2}"
            command = ["yosys-abc", "-c", f"read_aiger {work}/circuit.aig; fold; {search}"]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=TIME_LIMIT, cwd=work
            )
            if ASSERTED_ALONE.search(done.stdout):
                return True
    return False


def stand_in(name: str, passes: tuple[str, str] | None = None) -> str:
    """Return a function as a module that has any results in any clock, and sees to its calls' interval."""
    function = next(known for known in function_model.read().functions if known.name == name)
    latency, interval = f"clarion_block_pkg::{name.upper()}_LATENCY", function.interval
    body = ""
    if passes:
        argument, result = passes
        body += f"""
  logic [{latency}-1:0] passes_q;
  always_ff @(posedge clk_i) passes_q <= ({latency})'({{passes_q, valid_i && arguments_i.{argument}[0]}});
  always_comb begin
    results_o = anything;
    results_o.{result}[0] = passes_q[{latency}-1];
  end"""
    else:
        body += "\n  always_comb results_o = anything;"
    if interval > 1:
        body += f"""
  logic [{interval - 2}:0] called_q = '0;
  always_ff @(posedge clk_i) called_q <= {interval - 1}'({{called_q, valid_i}});
  always_comb if (valid_i) interval_is_kept : assert (called_q == '0);"""
    return f"""module clarion_{name} (
    input wire clk_i,
    input wire valid_i,
    input wire clarion_block_pkg::{name}_arguments_t arguments_i,
    output clarion_block_pkg::{name}_results_t results_o
);
  (* anyseq *) logic [{function_model.width(function.results) - 1}:0] anything;{body}
endmodule
"""


def _circuit(proof: Proof, work: Path, instead: Mapping[Path, Path]) -> list[str]:
    """Write circuit.aig, whose outputs are the properties; return their names, in its order."""
    top = proof.properties.stem
    functions = work / "functions.sv"
    functions.write_text("".join(stand_in(name, proof.passes.get(name)) for name in proof.functions))
    sources = [
        *(_resized(package, proof.sizes, work) for package in PACKAGES),
        functions,
        *(SHELL / f"clarion_{part}.sv" for part in proof.parts),
        proof.module,
        *(PROPERTIES / f"{name}.sv" for name in proof.beside),
        proof.properties,
    ]
    settings = [
        f'-set {key} "{value}"' if isinstance(value, str) else f"-set {key} {value}"
        for key, value in proof.parameters.items()
    ]
    script = work / "circuit.ys"
    lines = [
        f"read_verilog -formal -sv -defer {' '.join(str(instead.get(source, source)) for source in sources)}",
        *([f"chparam {' '.join(settings)} {top}"] if settings else []),
        f"prep -flatten -nordff -top {top}",
        "memory_map",
        "opt -full",
        "techmap",
        "dffunmap",
        "abc -g AND -fast",
        "opt_clean",
        f"select -write {work}/names t:$assert",
        f"write_aiger -zinit {work}/circuit.aig",
    ]
    script.write_text("\n".join(lines) + "\n")
    done = subprocess.run(["yosys", "-q", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{proof}: Yosys failed\n{done.stdout}{done.stderr}"
    return [re.split(r"[/.]", line)[-1] for line in (work / "names").read_text().split()]


def _resized(package: Path, sizes: Mapping[str, int], work: Path) -> Path:
    """Return a copy of a package with other sizes."""
    text = package.read_text()
    for name, size in sizes.items():
        text = re.sub(rf"(localparam logic \[31:0\] {name} =) [^;]+;", rf"\1 {size};", text)
    copy = work / package.name
    copy.write_text(text)
    return copy


@dataclass(frozen=True)
class Fault:
    """A piece of text that occurs once, what it becomes, and a property that then no longer holds."""

    proof: Proof
    name: str
    old: str
    new: str
    refuted: str
    in_properties: bool = False  # in what stands for the user of the module, not in the module

    def __str__(self) -> str:
        return f"{self.proof.name}-{self.name}"
