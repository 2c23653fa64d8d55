# SPDX-License-Identifier: Apache-2.0
"""Digests: collected into lists, sent, and held back while an equal one is not yet acknowledged."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping

from finsy.proto import p4d, p4r
from grpc import StatusCode

from clarion_agent import values
from clarion_agent.program import Digest, Program
from clarion_agent.roles import Access, denied
from clarion_agent.state import DigestConfig, State
from clarion_agent.status import Refused, invalid

MAX_LIST = 1024  # the length of a list whose config sets no limit
MAX_UNACKNOWLEDGED = 1024  # lists kept for their acknowledgement

Members = tuple[int, ...]


def write(kind: int, message: p4r.DigestEntry, program: Program, state: State) -> None:
    """Carries out an update on the state."""
    digest = _find(program, message.digest_id)
    name = f"digest {digest.name}"
    if kind == p4r.Update.INSERT and digest.name in state.digests:
        raise Refused(StatusCode.ALREADY_EXISTS, f"{name}: exists; use MODIFY")
    if kind != p4r.Update.INSERT and digest.name not in state.digests:
        raise Refused(StatusCode.NOT_FOUND, f"{name}: does not exist")
    if kind == p4r.Update.DELETE:
        del state.digests[digest.name]
        return
    config = message.config
    for field in ("max_timeout_ns", "max_list_size", "ack_timeout_ns"):
        if getattr(config, field) < 0:
            raise Refused(StatusCode.OUT_OF_RANGE, f"{name}.{field}: {getattr(config, field)}: is negative")
    state.digests[digest.name] = DigestConfig(
        config.max_timeout_ns, config.max_list_size, config.ack_timeout_ns
    )


def read(message: p4r.DigestEntry, program: Program, state: State) -> Iterator[p4r.Entity]:
    """The digests that are switched on."""
    if message.digest_id:
        digest = _find(program, message.digest_id)
        if digest.name not in state.digests:
            raise Refused(StatusCode.NOT_FOUND, f"digest {digest.name}: does not exist")
        wanted = [digest]
    else:
        wanted = [each for each in program.digests.values() if each.name in state.digests]
    for digest in wanted:
        config = state.digests[digest.name]
        entity = p4r.Entity()
        entity.digest_entry.digest_id = digest.id
        entity.digest_entry.config.max_timeout_ns = config.max_timeout_ns
        entity.digest_entry.config.max_list_size = config.max_list_size
        entity.digest_entry.config.ack_timeout_ns = config.ack_timeout_ns
        yield entity


class Collector:
    """The lists of one digest."""

    def __init__(
        self, digest: Digest, config: DigestConfig, first_list: int, send: Callable[[p4r.DigestList], None]
    ) -> None:
        self._digest = digest
        self._config = config
        self._send = send
        self._collected: list[Members] = []
        self._timer: asyncio.TimerHandle | None = None
        self._unacknowledged: dict[int, tuple[float, frozenset[Members]]] = {}
        self._held_back: set[Members] = set()
        self.next_list = first_list

    def add(self, members: Members) -> None:
        """Adds a digest; sends the list when it is full, else starts its timer."""
        if self._config.ack_timeout_ns:
            self._forget_old()
            if members in self._held_back:
                return
            self._held_back.add(members)
        self._collected.append(members)
        limit = self._config.max_list_size or MAX_LIST
        if len(self._collected) >= min(limit, MAX_LIST) or not self._config.max_timeout_ns:
            self.flush()
        elif self._timer is None:
            delay_s = self._config.max_timeout_ns / 1e9
            self._timer = asyncio.get_running_loop().call_later(delay_s, self.flush)

    def flush(self) -> None:
        """Sends the list as it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._collected:
            return
        message = p4r.DigestList(digest_id=self._digest.id, list_id=self.next_list, timestamp=time.time_ns())
        message.data.extend(_data(members) for members in self._collected)
        if self._config.ack_timeout_ns:
            expires = time.monotonic() + self._config.ack_timeout_ns / 1e9
            self._unacknowledged[self.next_list] = (expires, frozenset(self._collected))
            if len(self._unacknowledged) > MAX_UNACKNOWLEDGED:
                self._release(next(iter(self._unacknowledged)))
        self.next_list += 1
        self._collected = []
        self._send(message)

    def acknowledge(self, list_id: int) -> None:
        """The controller acknowledges a list."""
        if not 0 < list_id < self.next_list:
            raise invalid(f"digest {self._digest.name}: list {list_id}: was never sent")
        if list_id in self._unacknowledged:
            self._release(list_id)

    def close(self) -> None:
        """Drops the list."""
        self._collected = []
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget_old(self) -> None:
        now = time.monotonic()
        while self._unacknowledged:
            oldest = next(iter(self._unacknowledged))
            if self._unacknowledged[oldest][0] > now:
                break
            self._release(oldest)

    def _release(self, list_id: int) -> None:
        self._held_back -= self._unacknowledged.pop(list_id)[1]


class Collectors:
    """The lists of all digests that are switched on."""

    def __init__(self, program: Program, send: Callable[[p4r.DigestList], None]) -> None:
        self._program = program
        self._send = send
        self._by_name: dict[str, Collector] = {}

    def configure(self, configs: Mapping[str, DigestConfig]) -> None:
        """Switches on what has a config, and nothing else. Lists go as they are, and keep their numbers."""
        for collector in self._by_name.values():
            collector.flush()
        numbers = {name: collector.next_list for name, collector in self._by_name.items()}
        digests = {digest.name: digest for digest in self._program.digests.values()}
        self._by_name = {
            name: Collector(digests[name], config, numbers.get(name, 1), self._send)
            for name, config in configs.items()
        }

    def add(self, name: str, members: Members) -> None:
        """Adds a digest to its list, if it is switched on."""
        collector = self._by_name.get(name)
        if collector is not None:
            collector.add(members)

    def acknowledge(self, ack: p4r.DigestListAck, access: Access) -> None:
        """A controller acknowledges a list. Refused."""
        digest = self._program.digests.get(ack.digest_id)
        if digest is not None and not access.allows(digest.id):
            raise denied(f"digest {digest.name}")
        collector = self._by_name.get(digest.name) if digest else None
        if collector is None:
            raise invalid(f"digest {digest.name if digest else ack.digest_id}: is not switched on")
        collector.acknowledge(ack.list_id)

    def close(self) -> None:
        """Drops the lists."""
        for collector in self._by_name.values():
            collector.close()


def _data(members: Members) -> p4d.P4Data:
    data = p4d.P4Data()
    for member in members:
        data.struct.members.add(bitstring=values.encode(member))
    return data


def _find(program: Program, wanted: int) -> Digest:
    digest = program.digests.get(wanted)
    if digest is None:
        raise Refused(StatusCode.NOT_FOUND, f"digest {wanted}: there is none of that id")
    return digest
