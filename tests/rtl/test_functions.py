# SPDX-License-Identifier: Apache-2.0
"""Functions of the FPGA block between C++ and SystemVerilog: nothing is lost on the way, or late.

What the functions do is tested with them, in C++ and as the modules that the shell calls. Here are also two
that only tell whether all that goes in comes out.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from builds import plain
from clarion_contract.generate import function_cpp, function_dpi, function_model, function_sv
from clarion_contract.generate.function_model import camel
from rtl.simulation import ROOT, lint, needs_verilator, needs_yosys, synthesise

FUNCTIONS = function_model.read()
PACKAGE = ROOT / "hls" / "rtl" / "clarion_block_pkg.sv"
MODULES = ROOT / "hls" / "sim" / "functions" / "clarion_functions_dpi.sv"


def run(*command: str | Path) -> str:
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


PROGRAM = """
#include <cstdio>
#include <cstring>
#include <random>
#include "hls/functions/packing.hpp"
using namespace clarion::block;

static std::mt19937 any(1);

template <class Struct, unsigned BITS>
bool kept(const char* name) {{
  constexpr unsigned WORDS = (BITS + 31) / 32;
  for (int round = 0; round < 1000; ++round) {{
    std::uint32_t given[WORDS], made[WORDS + 1], clean[WORDS];
    for (auto& word : given) word = any();
    std::memcpy(clean, given, sizeof clean);
    if (BITS % 32 != 0) clean[WORDS - 1] &= (1u << BITS % 32) - 1;
    std::memset(made, 0xa5, sizeof made);
    Struct value;
    unpack(given, value);
    pack(value, made);
    if (std::memcmp(clean, made, sizeof clean) != 0 || made[WORDS] != 0xa5a5a5a5) {{
      std::printf("%s: round %d\\n", name, round);
      return false;
    }}
  }}
  return true;
}}

int main() {{ return {all} ? 0 : 1; }}
"""


def test_packing_keeps_every_bit(tmp_path: Path) -> None:
    parts = [
        f"kept<{camel(each.name)}{kind}s, {f'{each.name}_{kind}_bits'.upper()}>({json.dumps(each.name)})"
        for each in FUNCTIONS.functions
        for kind in ("Argument", "Result")
    ]
    (tmp_path / "kept.cpp").write_text(PROGRAM.format(all=" & ".join(parts)))
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", f"-I{ROOT}"]
    run("g++", *flags, "-fno-sanitize-recover=all", tmp_path / "kept.cpp", "-o", tmp_path / "kept")
    run(tmp_path / "kept")


@needs_verilator
def test_lint_of_the_modules_is_silent() -> None:
    run("verilator", "--lint-only", "-Wall", PACKAGE, MODULES, "-y", ROOT / "hls" / "rtl")


USER = """
// verilator lint_off UNUSEDSIGNAL
module user (
    input wire clarion_block_pkg::control_arguments_t a,
    input wire clarion_block_pkg::classify_arguments_t b,
    output clarion_block_pkg::control_results_t c,
    output clarion_block_pkg::patch_results_t d
);
  assign d.enable = clarion_block_pkg::GRANT_INTERVAL;
  assign d.data = {b.window[13], b.window[0], 64'(a.phi), b.window[7]};
  always_comb begin
    c = '0;
    c.shares.cp.shift = a.config_.alpha_q16[5:0];
  end
endmodule
"""
# What is where, counted by hand in functions.yaml.
PLACES = {
    "c[263:258]": "a[43:38]",
    "d[31:0]": "2",
    "d[95:32]": "b[511:448]",
    "d[147:96]": "a[241:190]",
    "d[223:160]": "b[63:0]",
    "d[287:224]": "b[895:832]",
}


@needs_verilator
@needs_yosys
def test_types_are_read_by_the_open_tools(tmp_path: Path) -> None:
    user = tmp_path / "user.sv"
    user.write_text(USER)
    assert lint("user", [PACKAGE, user]) == ""
    proofs = " ".join(f"-prove {place} {bits}" for place, bits in PLACES.items())
    synthesise("user", [PACKAGE, user], f"sat -verify {proofs} user")


TYPES = """
types:
  gain: {core: "clarion::Gain", fields: [{name: mantissa, bits: 32}, {name: shift, bits: 6}]}
  meta:
    core: clarion::Meta
    fields: [{name: kind, bits: 2}, {name: offset, bits: 7}, {name: delta_throughput, bits: 32, signed: true}]
functions:
"""
FUNCTION = """
  {name}:
    about: what goes in comes out
    latency: {latency}
    interval: 1
    arguments:
      - {{name: first, bits: 1}}
      - {{name: gain, type: gain}}
      - {{name: meta, type: meta}}
      - {{name: words, bits: 33, count: 3}}
      - {{name: input, bits: 5, signed: true}}
    results:
      - {{name: words, bits: 33, count: 3}}
      - {{name: input, bits: 5, signed: true}}
      - {{name: sum, bits: 40, signed: true}}
      - {{name: low, bits: 3}}
      - {{name: meta, type: meta}}
      - {{name: first, bits: 1}}
      - {{name: gain, type: gain}}
"""
CPP = """
#pragma once
#include "hls/functions/ports.hpp"
namespace clarion::block {
template <class Results, class Arguments>
Results same(const Arguments& given) {
  Results out;
  for (int i = 0; i < 3; ++i) out.words[i] = given.words[2 - i];
  out.input = given.input;
  out.sum = std::int64_t{given.meta.delta_throughput} + given.input;
  out.low = static_cast<std::uint8_t>(given.input);
  out.meta = given.meta;
  out.first = given.first;
  out.gain = given.gain;
  return out;
}
inline SoonResults soon(const SoonArguments& given) { return same<SoonResults>(given); }
inline LateResults late(const LateArguments& given) { return same<LateResults>(given); }
}  // namespace clarion::block
"""
BENCH = """
module bench (input wire clk);
  clarion_block_pkg::soon_arguments_t given;
  clarion_block_pkg::soon_results_t expected[6], soon, two, late, six;
  bit valid = 0;
  int unsigned seen = 0;

  clarion_soon u_soon (.clk_i(clk), .valid_i(valid), .arguments_i(given), .results_o(soon));
  clarion_soon #(.LATENCY(2)) u_two (.clk_i(clk), .valid_i(valid), .arguments_i(given), .results_o(two));
  clarion_late u_late (.clk_i(clk), .valid_i(valid), .arguments_i(given), .results_o(late));
  clarion_late #(.LATENCY(6)) u_six (.clk_i(clk), .valid_i(valid), .arguments_i(given), .results_o(six));

  function automatic clarion_block_pkg::soon_results_t same(clarion_block_pkg::soon_arguments_t from);
    for (int i = 0; i < 3; i++) same.words[i] = from.words[2-i];
    same.input_ = from.input_;
    same.sum = 40'(from.meta.delta_throughput) + 40'(from.input_);
    same.low = from.input_[2:0];
    same.meta = from.meta;
    same.first = from.first;
    same.gain = from.gain;
  endfunction

  initial for (int i = 0; i < 6; i++) expected[i] = '1;
  always @(posedge clk) begin
    if (soon !== expected[0]) $fatal(1, "soon");
    if (two !== expected[1]) $fatal(1, "two");
    if (late !== expected[4]) $fatal(1, "late");
    if (six !== expected[5]) $fatal(1, "six");
    expected[0] <= valid ? same(given) : '1;
    for (int i = 1; i < 6; i++) expected[i] <= expected[i-1];
    given <= $bits(given)'({$urandom, $urandom, $urandom, $urandom, $urandom, $urandom});
    valid <= seen < 300 ? 1 : $urandom_range(2) == 0;
    seen <= seen + 1;
  end
endmodule
"""
MAIN = """
#include "Vbench.h"
int main() {
  Vbench bench;
  for (int i = 0; i < 4000; ++i) {
    bench.clk = i % 2;
    bench.eval();
  }
}
"""


@needs_verilator
@pytest.mark.slow
def test_results_come_out_when_they_should(tmp_path: Path) -> None:
    document = tmp_path / "functions.yaml"
    document.write_text(
        TYPES + FUNCTION.format(name="soon", latency=1) + FUNCTION.format(name="late", latency=5)
    )
    functions = function_model.read(document)
    files = {
        "functions_pkg.sv": function_sv.as_package(functions),
        "functions_dpi.sv": function_dpi.as_modules(functions),
        "functions_dpi.cpp": function_dpi.as_calls(functions),
        "hls/functions/ports.hpp": function_cpp.as_ports(functions),
        "hls/functions/packing.hpp": function_cpp.as_packing(functions),
        "hls/functions/functions.hpp": CPP,
        "bench.sv": BENCH,
        "main.cpp": MAIN,
    }
    (tmp_path / "hls" / "functions").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    sources = [tmp_path / name for name in files if name.endswith((".sv", ".cpp"))]
    flags = f"-std=c++17 -I{tmp_path} -I{ROOT}"
    build = ("--build", "-j", "2", "--Mdir", tmp_path / "made", "-CFLAGS", flags, "--top-module", "bench")
    run("verilator", "--cc", "--exe", *build, "-y", ROOT / "hls" / "rtl", *sources)
    run(tmp_path / "made" / "Vbench")


@needs_verilator
@pytest.mark.slow
def test_the_modules_give_what_the_core_gives() -> None:
    run(plain("hls/sim/circuits-tests"), "--gtest_brief=1")
