# SPDX-License-Identifier: Apache-2.0
"""YAML of which every value knows its place, so that an error names the place."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml

T = TypeVar("T")


class DocumentError(Exception):
    """A document that does not hold together; the text is the whole message."""


class Node:
    """A value of the YAML and where it stands."""

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def fail(self, reason: str) -> DocumentError:
        """Return the error that names this place."""
        return DocumentError(f"{self.path}: {reason}" if self.path else reason)

    def at(self, name: str, value: Any) -> Node:
        """Return what stands below this one."""
        return Node(value, f"{self.path}.{name}" if self.path else name)

    def entries(self) -> dict[str, Node]:
        """Return the entries of a mapping, whose keys are names."""
        if not isinstance(self.value, dict):
            raise self.fail("a mapping is needed")
        for name in self.value:
            if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise self.fail(f"{name!r} is no name; lower case letters, digits and _ are")
        return {name: self.at(name, value) for name, value in self.value.items()}

    def keys(self, needed: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Node]:
        """Return the entries of a mapping that has these and no others."""
        entries = self.entries()
        needed, known = list(needed), [*needed, *optional]
        for name in entries:
            if name not in known:
                raise self.fail(f"unknown key {name!r}; known are {', '.join(known)}")
        for name in needed:
            if name not in entries:
                raise self.fail(f"{name!r} is missing")
        return entries

    def items(self) -> list[Node]:
        """Return the entries of a list; those that have a name go by it."""
        if not isinstance(self.value, list):
            raise self.fail("a list is needed")
        names = [v.get("name", str(i)) if isinstance(v, dict) else str(i) for i, v in enumerate(self.value)]
        return [self.at(str(name), value) for name, value in zip(names, self.value, strict=True)]

    def integer(self, low: int, high: int) -> int:
        """Return a whole number in a range."""
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.fail(f"a whole number from {low} to {high:#x} is needed, not {self.value!r}")
        return self.value

    def text(self) -> str:
        """Return a line of text."""
        if not isinstance(self.value, str) or not self.value.strip() or "\n" in self.value:
            raise self.fail(f"a line of text is needed, not {self.value!r}")
        if re.search(r'["\\|]', self.value):
            raise self.fail('" \\ and | have a meaning in what is generated')
        return self.value

    def name(self) -> str:
        """Return a name."""
        if not isinstance(self.value, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", self.value):
            raise self.fail(f"{self.value!r} is no name; lower case letters, digits and _ are")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.fail(f"true or false is needed, not {self.value!r}")
        return self.value


class _Loader(yaml.SafeLoader):
    """YAML in which a key stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if name in seen:
                raise DocumentError(f"line {key.start_mark.line + 1}: {name!r} stands twice")
            seen.add(name)
        return super().construct_mapping(node, deep)


def read_document(path: Path, build: Callable[[Node], T]) -> T:
    """Return what `build` makes of the file's root."""
    try:
        return build(Node(yaml.load(path.read_text(encoding="utf-8"), _Loader), ""))
    except DocumentError as error:
        raise DocumentError(f"{path.name}: {error}") from None
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DocumentError(f"{path.name}: not YAML: {' '.join(str(error).split())}") from None
