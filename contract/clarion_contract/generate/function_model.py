# SPDX-License-Identifier: Apache-2.0
"""Reads functions.yaml and refuses functions that do not hold together, naming the place in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_contract.generate import keywords
from clarion_contract.generate.document import Node, read_document

SOURCE = ROOT / "contract" / "functions.yaml"
LATENCY_MAX = 1 << 16
COUNT_MAX = 1 << 10


@dataclass(frozen=True)
class Field:
    """A number, an array of numbers, or all fields of a type."""

    name: str
    bits: int  # of one element
    signed: bool
    count: int | None  # elements of an array
    type: Type | None
    about: str = ""

    @property
    def width(self) -> int:
        """Bits that it takes."""
        return self.bits * (1 if self.count is None else self.count)


@dataclass(frozen=True)
class Type:
    """Fields with the name of a struct of the core, or of the shell alone."""

    name: str
    core: str | None
    about: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Function:
    """What the shell gives to a function and gets back."""

    name: str
    about: str
    latency: int
    interval: int
    arguments: tuple[Field, ...]
    results: tuple[Field, ...]


@dataclass(frozen=True)
class Functions:
    """The whole of functions.yaml. No type is before those that it is made of."""

    types: tuple[Type, ...]
    functions: tuple[Function, ...]


@dataclass(frozen=True)
class Number:
    """One number in the packed bits, and the path to it from the struct, in C++ and SystemVerilog alike."""

    path: str
    at: int
    bits: int
    signed: bool


def width(fields: tuple[Field, ...]) -> int:
    """Bits of all of these."""
    return sum(field.width for field in fields)


def numbers(fields: tuple[Field, ...], at: int = 0, prefix: str = "") -> Iterator[Number]:
    """Yield every number of the fields, the lowest first."""
    for field in fields:
        path = prefix + field.name
        if field.type is not None:
            yield from numbers(field.type.fields, at, f"{path}.")
        elif field.count is None:
            yield Number(path, at, field.bits, field.signed)
        else:
            for i in range(field.count):
                yield Number(f"{path}[{i}]", at + i * field.bits, field.bits, field.signed)
        at += field.width


def read(path: Path = SOURCE) -> Functions:
    """Return the functions of a file."""
    return read_document(path, _functions)


def _functions(root: Node) -> Functions:
    parts = root.keys(("types", "functions"))
    types = _Types(parts["types"].entries())
    for name, node in types.nodes.items():
        types.named(name, node)
    functions = []
    for name, node in parts["functions"].entries().items():
        _usable(node, name)
        functions.append(_function(node, name, types.of_core))
    if not functions:
        raise parts["functions"].fail("a function is needed")
    _made_differ(parts["functions"], functions, list(types.made))
    return Functions(tuple(types.made.values()), tuple(functions))


class _Types:
    """Types, made when they are first needed."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self.nodes = nodes
        self.made: dict[str, Type] = {}
        self._making: list[str] = []

    def named(self, name: str, user: Node) -> Type:
        """Return a type; `user` is where it is named."""
        if name in self.made:
            return self.made[name]
        if name not in self.nodes:
            raise user.fail(f"unknown type {name!r}; known are {', '.join(self.nodes)}")
        if name in self._making:
            raise user.fail(f"{name!r} would be part of itself")
        self._making.append(name)
        node = self.nodes[name]
        _usable(node, name)
        keys = node.keys(("fields",), ("core", "about"))
        core = keys["core"].text() if "core" in keys else None
        if core is not None and not re.fullmatch(r"\w+(::\w+)+", core):
            raise keys["core"].fail(f"{core!r} is no type of C++ with its namespace")
        about = keys["about"].text() if "about" in keys else ""
        self.made[name] = Type(
            name, core, about, _fields(keys["fields"], self.named if core is None else self.of_core)
        )
        self._making.pop()
        return self.made[name]

    def of_core(self, name: str, user: Node) -> Type:
        """Return a type that C++ has, too."""
        type_ = self.named(name, user)
        if type_.core is None:
            raise user.fail(f"{name!r} is of the shell alone: it names no `core` type")
        return type_


def _function(node: Node, name: str, named: Callable[[str, Node], Type]) -> Function:
    keys = node.keys(("about", "latency", "interval", "arguments", "results"))
    latency = keys["latency"].integer(1, LATENCY_MAX)
    interval = keys["interval"].integer(1, LATENCY_MAX)
    if interval > latency:
        raise keys["interval"].fail(f"{interval} is more than the latency, {latency}")
    return Function(
        name=name,
        about=keys["about"].text(),
        latency=latency,
        interval=interval,
        arguments=_fields(keys["arguments"], named),
        results=_fields(keys["results"], named),
    )


def _fields(node: Node, named: Callable[[str, Node], Type]) -> tuple[Field, ...]:
    fields = tuple(_field(item, named) for item in node.items())
    if not fields:
        raise node.fail("a field is needed")
    names = [field.name for field in fields]
    for name in names:
        if names.count(name) > 1:
            raise node.fail(f"{name!r} stands twice")
    return fields


def _field(node: Node, named: Callable[[str, Node], Type]) -> Field:
    keys = node.keys(("name",), ("bits", "type", "signed", "count", "about"))
    about = keys["about"].text() if "about" in keys else ""
    name = keys["name"].name()
    _usable(keys["name"], name)
    if ("bits" in keys) == ("type" in keys):
        raise node.fail("either bits or a type is needed")
    if "type" in keys:
        for key in ("signed", "count"):
            if key in keys:
                raise keys[key].fail("it is of fields with bits")
        type_ = named(keys["type"].name(), keys["type"])
        return Field(name, width(type_.fields), False, None, type_, about)
    bits = keys["bits"].integer(1, 64)
    signed = "signed" in keys and keys["signed"].flag()
    count = keys["count"].integer(1, COUNT_MAX) if "count" in keys else None
    if signed and bits < 2:
        raise keys["signed"].fail("a number with a sign has 2 bits or more")
    if signed and count is not None:
        raise keys["signed"].fail("elements of arrays have no sign in SystemVerilog")
    return Field(name, bits, signed, count, None, about)


def _usable(node: Node, name: str) -> None:
    """A name that C++ can have and that leaves those with _ at the end to SystemVerilog."""
    if name in keywords.CPP or name.endswith("_"):
        raise node.fail(f"{name!r} cannot be a name in what is generated")


def _made_differ(node: Node, functions: list[Function], types: list[str]) -> None:
    """No two things of the same language get the same name."""
    made = {f"{name}_t": f"the type {name}" for name in types}
    for function in functions:
        for name in (f"{function.name}_arguments_t", f"{function.name}_results_t", camel(function.name)):
            if name in made:
                raise node.fail(f"{made[name]} and {function.name} would both make {name}")
            made[name] = function.name


def camel(name: str) -> str:
    """Return a name as that of a struct."""
    return "".join(part.capitalize() for part in name.split("_"))
