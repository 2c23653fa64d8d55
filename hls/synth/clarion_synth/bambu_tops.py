# SPDX-License-Identifier: Apache-2.0
"""Tops of C++ for bambu, and their instances in the shell's modules.

bambu pipelines functions of up to 64 bits that return one number. So a pipeline has a top for each 64 bits of
its results, and what they have in common is made more than once. A sequence of states has all results in one.
"""

from __future__ import annotations

from clarion_contract.generate.function_model import Function, width
from clarion_synth import circuits
from clarion_synth.circuits import WORD_BITS


def names(function: Function) -> list[str]:
    """Return the names of a function's tops."""
    if not circuits.is_pipelined(function):
        return [f"clarion_{function.name}_hls"]
    return [f"clarion_{function.name}_{word}" for word in range(_result_words(function))]


def source(function: Function, name: str) -> str:
    """Return one of them."""
    if circuits.is_pipelined(function):
        return _word_of_pipeline(function, name, int(name.rpartition("_")[2]))
    return _sequence(function, name)


def pipelines(function: Function, states: list[int]) -> str:
    """Return instances of tops with so many states each, behind which all results come at once."""
    arguments, results = width(function.arguments), width(function.results)
    wide = WORD_BITS * circuits.words(arguments)
    lines = [f"  wire [{wide - 1}:0] arguments = {wide}'(arguments_i);"]
    for word, (name, number) in enumerate(zip(names(function), states, strict=True)):
        bits = min(WORD_BITS, results - WORD_BITS * word)
        lines.append(f"""\
  wire [63:0] word_{word};
  {name} circuit_{word} (
      .clock(clk_i),
      .reset(1'b1),
      .start_port(valid_i),
{_inputs(function)}      .done_port(),
      .return_port(word_{word})
  );
  clarion_pipe #(
      .WIDTH({bits}),
      .LATENCY({max(states) - number})
  ) pipe_{word} (
      .clk_i,
      .rst_ni(1'b1),
      .valid_i(1'b1),
      .data_i(word_{word}[{bits - 1}:0]),
      .valid_o(),
      .data_o(results[{WORD_BITS * word}+:{bits}])
  );""")
    return "\n".join(lines)


def sequence(function: Function) -> str:
    """Return the instance of a sequence of states: each word of its results is kept when it is told."""
    (name,) = names(function)
    words, results = range(_result_words(function)), width(function.results)
    outputs = "".join(f"      .r{i}(word_{i}),\n      .r{i}_vld(told_{i}),\n" for i in words)
    lines = [f"  wire [63:0] word_{i};\n  wire told_{i};" for i in words]
    lines.append(f"""\
  assign taken = 1'b1;
  {name} circuit (
      .clock(clk_i),
      .reset(!restart),
      .start_port(start),
{_inputs(function)}{outputs}      .done_port()
  );
  always_ff @(posedge clk_i) begin""")
    for i in words:
        bits = min(WORD_BITS, results - WORD_BITS * i)
        lines.append(f"    if (told_{i}) results[{WORD_BITS * i}+:{bits}] <= word_{i}[{bits - 1}:0];")
    lines.append("  end")
    return "\n".join(lines)


def _word_of_pipeline(function: Function, name: str, word: int) -> str:
    return f"""\
// Made by clarion_synth.
{circuits.INCLUDES}
extern "C" unsigned long long {name}({_parameters(function)}) {{
#pragma HLS pipeline II = {function.interval}
{_call(function)}  return {_made(word)};
}}
"""


def _sequence(function: Function, name: str) -> str:
    words = range(_result_words(function))
    ports = "".join(f"#pragma HLS interface port = r{i} mode = ovalid\n" for i in words)
    parameters = ", ".join((_parameters(function), *(f"unsigned long long* r{i}" for i in words)))
    stores = "".join(f"  *r{i} = {_made(i)};\n" for i in words)
    return f"""\
// Made by clarion_synth.
{circuits.INCLUDES}
{ports}extern "C" void {name}({parameters}) {{
{_call(function)}{stores}}}
"""


def _parameters(function: Function) -> str:
    return ", ".join(f"unsigned long long a{i}" for i in range(_argument_words(function)))


def _call(function: Function) -> str:
    halves = ", ".join(
        f"static_cast<std::uint32_t>(a{i}), static_cast<std::uint32_t>(a{i} >> 32)"
        for i in range(_argument_words(function))
    )
    return f"""\
  const std::uint32_t words[] = {{{halves}}};
  clarion::block::{circuits.struct(function)}Arguments arguments;
  clarion::block::unpack(words, arguments);
  std::uint32_t made[{2 * _result_words(function)}] = {{}};
  clarion::block::pack(clarion::block::{function.name}(arguments), made);
"""


def _made(word: int) -> str:
    return f"made[{2 * word}] | static_cast<unsigned long long>(made[{2 * word + 1}]) << 32"


def _inputs(function: Function) -> str:
    return "".join(
        f"      .a{i}(arguments[{WORD_BITS * i}+:{WORD_BITS}]),\n" for i in range(_argument_words(function))
    )


def _argument_words(function: Function) -> int:
    return circuits.words(width(function.arguments))


def _result_words(function: Function) -> int:
    return circuits.words(width(function.results))
