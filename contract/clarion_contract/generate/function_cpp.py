# SPDX-License-Identifier: Apache-2.0
"""The functions' arguments and results as C++ structs, and how they are packed into the bits of the shell."""

from __future__ import annotations

from collections.abc import Iterator

from clarion_contract.generate import layout
from clarion_contract.generate.document import DocumentError
from clarion_contract.generate.function_model import (
    Field,
    Function,
    Functions,
    camel,
    numbers,
    width,
)

# Where types of the core are.
HEADERS = {
    "clarion::Claim": "core/pools.hpp",
    "clarion::Gain": "core/division.hpp",
    "clarion::IntervalClock": "core/xcp_interval.hpp",
    "clarion::IntervalSums": "core/xcp_arrival.hpp",
    "clarion::MaxMinGains": "core/maxmin_interval.hpp",
    "clarion::Meta": "core/header.hpp",
    "clarion::OwnSums": "core/maxmin_interval.hpp",
    "clarion::Pools": "core/pools.hpp",
    "clarion::QueueWindow": "core/queue_tracker.hpp",
    "clarion::SequenceSlot": "core/sequence_check.hpp",
    "clarion::Shares": "core/xcp_interval.hpp",
    "clarion::XcpConfig": "core/config.hpp",
}

PORTS = """\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// Arguments and results of the block's functions.
#pragma once

#include <cstdint>

{includes}

namespace clarion::block {{

{body}

}}  // namespace clarion::block
"""

PACKING = """\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// Arguments and results as the bits that the shell has, in words with the lowest first. Bits
// of the last word above these are 0 when packed, and may be anything when unpacked.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/platform.hpp"
#include "hls/functions/ports.hpp"

namespace clarion::block {{

namespace packed {{

constexpr std::uint64_t mask(unsigned bits) {{ return ~std::uint64_t{{0}} >> (64 - bits); }}

// BITS bits of `value` go to bit AT of words that are 0 there.
template <unsigned AT, unsigned BITS, class T>
CLARION_INLINE void put(std::uint32_t* words, T value) {{
  constexpr unsigned SHIFT = AT % 32;
  const std::uint64_t bits = static_cast<std::uint64_t>(value) & mask(BITS);
  words[AT / 32] |= static_cast<std::uint32_t>(bits << SHIFT);
  if constexpr (SHIFT + BITS > 32) words[AT / 32 + 1] |= static_cast<std::uint32_t>(bits >> (32 - SHIFT));
  if constexpr (SHIFT + BITS > 64) words[AT / 32 + 2] |= static_cast<std::uint32_t>(bits >> (64 - SHIFT));
}}

template <unsigned AT, unsigned BITS>
CLARION_INLINE std::uint64_t bits_at(const std::uint32_t* words) {{
  constexpr unsigned SHIFT = AT % 32;
  std::uint64_t bits = words[AT / 32] >> SHIFT;
  if constexpr (SHIFT + BITS > 32) bits |= std::uint64_t{{words[AT / 32 + 1]}} << (32 - SHIFT);
  if constexpr (SHIFT + BITS > 64) bits |= std::uint64_t{{words[AT / 32 + 2]}} << (64 - SHIFT);
  return bits & mask(BITS);
}}

template <unsigned AT, unsigned BITS, class T>
CLARION_INLINE void take(const std::uint32_t* words, T& value) {{
  static_assert(std::is_same_v<T, bool> ? BITS == 1 : BITS <= 8 * sizeof(T), "all bits have room");
  static_assert(!std::is_signed_v<T>, "the number has no sign");
  value = static_cast<T>(bits_at<AT, BITS>(words));
}}

template <unsigned AT, unsigned BITS, class T>
CLARION_INLINE void take_signed(const std::uint32_t* words, T& value) {{
  static_assert(BITS <= 8 * sizeof(T), "all bits have room");
  static_assert(std::is_signed_v<T>, "the number has a sign");
  value = static_cast<T>(static_cast<std::int64_t>(bits_at<AT, BITS>(words) << (64 - BITS)) >> (64 - BITS));
}}

}}  // namespace packed

{body}

}}  // namespace clarion::block
"""


def as_ports(functions: Functions) -> str:
    """Return hls/functions/ports.hpp."""
    headers = sorted({_header(type_.name, type_.core) for type_ in functions.types if type_.core})
    return layout.cpp(
        PORTS.format(
            includes="\n".join(f'#include "{each}"' for each in headers),
            body="\n\n".join(_ports(function) for function in functions.functions),
        )
    )


def as_packing(functions: Functions) -> str:
    """Return hls/functions/packing.hpp."""
    return layout.cpp(
        PACKING.format(body="\n\n".join("\n\n".join(_packing(each)) for each in functions.functions))
    )


def _header(name: str, core: str) -> str:
    if core not in HEADERS:
        known = ", ".join(HEADERS)
        raise DocumentError(f"functions.yaml: types.{name}.core: no such type; known are {known}")
    return HEADERS[core]


def _structs(function: Function) -> Iterator[tuple[str, tuple[Field, ...]]]:
    name = camel(function.name)
    yield f"{name}Arguments", function.arguments
    yield f"{name}Results", function.results


def _ports(function: Function) -> str:
    structs = (
        "\n".join([f"struct {struct} {{", *map(_member, fields), "};"])
        for struct, fields in _structs(function)
    )
    latency = f"constexpr unsigned {function.name.upper()}_LATENCY = {function.latency};  // clocks"
    return "\n".join([f"// `{function.name}`: {function.about}.", latency, *structs])


def _member(field: Field) -> str:
    if field.type is not None:
        return f"{field.type.core} {field.name} = {{}};"
    if field.count is not None:
        return f"{_integer(field)} {field.name}[{field.count}] = {{}};"
    return f"{_integer(field)} {field.name} = {'false' if field.bits == 1 else 0};"


def _integer(field: Field) -> str:
    if field.bits == 1:
        return "bool"
    size = next(size for size in (8, 16, 32, 64) if field.bits <= size)
    return f"std::{'' if field.signed else 'u'}int{size}_t"


def _packing(function: Function) -> Iterator[str]:
    name = function.name.upper()
    yield "\n".join(
        [
            f"constexpr unsigned {name}_ARGUMENT_BITS = {width(function.arguments)};",
            f"constexpr unsigned {name}_RESULT_BITS = {width(function.results)};",
        ]
    )
    for struct, fields in _structs(function):
        yield "\n".join(_unpack(struct, fields))
        yield "\n".join(_pack(struct, fields))


def _unpack(struct: str, fields: tuple[Field, ...]) -> Iterator[str]:
    yield f"inline void unpack(const std::uint32_t* words, {struct}& to) {{"
    yield f"to = {struct}{{}};"
    for each in numbers(fields):
        take = "take_signed" if each.signed else "take"
        yield f"packed::{take}<{each.at}, {each.bits}>(words, to.{each.path});"
    yield "}"


def _pack(struct: str, fields: tuple[Field, ...]) -> Iterator[str]:
    yield f"inline void pack(const {struct}& from, std::uint32_t* words) {{"
    yield f"std::uint32_t made[{-(-width(fields) // 32)}] = {{}};"
    for each in numbers(fields):
        yield f"packed::put<{each.at}, {each.bits}>(made, from.{each.path});"
    for word in range(-(-width(fields) // 32)):
        yield f"words[{word}] = made[{word}];"
    yield "}"
