# SPDX-License-Identifier: Apache-2.0
"""One run that is to be done, and the key of all that decides its result."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_lab.engines.registry import SIDE_BY_SIDE
from clarion_lab.scenario.documents import Document
from clarion_lab.tasks import sources

WITHOUT_INFLUENCE = ("description", "expect", "sweep")  # fields of a scenario
DEFAULT_SEED = 1


@dataclass(frozen=True)
class Task:
    """A scenario at one point with its seed, and the engine that runs it."""

    name: str  # of the scenario, for titles
    document: Document  # the whole scenario document, `seed` included; without sweep
    engine: str  # name in engines.registry.ENGINES
    labels: Mapping[str, Any] = field(default_factory=dict)  # point, settings, repeat: as in its summary

    def key(self) -> str:
        """SHA-256, in hex, of everything that decides the result: the scenario with its seed, the engine, the
        sources, in real time the kernel. The name, the labels, the description and what is expected do not
        count.
        """
        parts = [self.engine, sources.digest(self.engine), canonical(self.document)]
        if self.engine not in SIDE_BY_SIDE:  # its TCP and its senders are the kernel's
            parts.append(platform.release())
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def canonical(document: Document) -> str:
    """A scenario as text that is the same for all documents that say the same."""
    wanted = {name: value for name, value in document.items() if name not in WITHOUT_INFLUENCE}
    wanted["seed"] = int(wanted.get("seed", DEFAULT_SEED))
    return json.dumps(_plain(wanted), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Numbers that are equal look alike: 1.0 as 1."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
