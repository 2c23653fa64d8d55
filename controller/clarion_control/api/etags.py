# SPDX-License-Identifier: Apache-2.0
"""Conditional requests (RFC 9110, section 13) on resources that carry a version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clarion_control.api.problems import Problem, in_header

_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_SEPARATOR = re.compile(r"[ \t]*,[ \t,]*")


@dataclass(frozen=True)
class EntityTag:
    """An entity tag as it stands in a header, without its quotes."""

    opaque: str
    weak: bool = False

    def __str__(self) -> str:
        return f'{"W/" if self.weak else ""}"{self.opaque}"'


@dataclass(frozen=True)
class Condition:
    """The value of If-Match or If-None-Match: `*`, or a list of tags."""

    anything: bool
    tags: tuple[EntityTag, ...] = ()

    def strongly(self, current: EntityTag) -> bool:
        """Whether it holds the current tag, no weak one on either side: the rule of If-Match."""
        return self.anything or (not current.weak and current in self.tags)

    def weakly(self, current: EntityTag) -> bool:
        """Whether it holds the current tag, weak or not: the rule of If-None-Match."""
        return self.anything or current.opaque in {tag.opaque for tag in self.tags}


def condition(header: str, values: Sequence[str]) -> Condition | None:
    """The condition that a header states over all its lines; None without it, Problem if it is malformed."""
    if not values:
        return None
    text = ", ".join(values).strip(" \t,")
    if text == "*":
        return Condition(True)
    tags = []
    position = 0
    while True:
        found = _TAG.match(text, position)
        if found is None:
            break
        tags.append(EntityTag(found[2], found[1] is not None))
        if found.end() == len(text):
            return Condition(False, tuple(tags))
        gap = _SEPARATOR.match(text, found.end())
        if gap is None:
            break
        position = gap.end()
    detail = f'{header}: use "*" or entity tags in double quotes, such as "7-3", with commas between them'
    raise Problem("malformed-header", detail, errors=[in_header(header, "not a list of entity tags")])
