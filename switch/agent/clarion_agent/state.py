# SPDX-License-Identifier: Apache-2.0
"""The state that controllers have written to one switch; a Write starts from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from finsy.proto import p4r


@dataclass(frozen=True)
class Entry:
    """A table entry. Metadata of controllers is kept unread."""

    action: str
    arguments: Mapping[str, int]
    metadata: bytes = b""
    controller_metadata: int = 0


@dataclass(frozen=True)
class DigestConfig:
    """How a digest is collected into lists."""

    max_timeout_ns: int
    max_list_size: int
    ack_timeout_ns: int


@dataclass(frozen=True)
class Backup:
    """Where the copy goes instead while the links of all ports before it are down."""

    port: int
    instance: int


@dataclass(frozen=True)
class Replica:
    """A copy of a flooded frame. The port is the P4 program's, such as 256 + 3."""

    port: int
    instance: int
    as_bytes: bool = False  # the newer of the two ways in which a message can name a port
    backups: tuple[Backup, ...] = ()


@dataclass
class State:
    """Entries by table and key, the flood group, digests by name."""

    entries: dict[tuple[str, int], Entry] = field(default_factory=dict)
    group: tuple[Replica, ...] | None = None
    group_metadata: bytes = b""
    digests: dict[str, DigestConfig] = field(default_factory=dict)

    def copy(self) -> State:
        """A copy that can be written to."""
        return State(dict(self.entries), self.group, self.group_metadata, dict(self.digests))

    def in_table(self, table: str) -> int:
        """How many entries the table has."""
        return sum(1 for name, _ in self.entries if name == table)


@dataclass(frozen=True)
class Pipeline:
    """A forwarding pipeline config that was accepted."""

    device_config: bytes = b""
    cookie: int | None = None

    @classmethod
    def of(cls, config: p4r.ForwardingPipelineConfig) -> Pipeline:
        """The config of a SetForwardingPipelineConfig request."""
        cookie = config.cookie.cookie if config.HasField("cookie") else None
        return cls(config.p4_device_config, cookie)
