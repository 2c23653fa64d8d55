# SPDX-License-Identifier: Apache-2.0
"""LLDP on a card's network devices: hellos every second, neighbours heard, wires judged.

The card passes such frames between wire and host like any other, so they are sent and heard on the devices
that the driver of the card makes of its ports.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
import time
from collections.abc import Callable, Mapping

from clarion_contract.lldp import (
    ETHERTYPE,
    GROUP,
    HELLO_EVERY_S,
    MAX_CHASSIS_BYTES,
    TTL_S,
    ClarionPort,
    LldpError,
    decode,
    encode,
    our_hello,
)
from clarion_contract.neighbours import Neighbours, Verdict, judge
from clarion_nic.driver import place

_log = logging.getLogger(__name__)

MAX_FRAME_BYTES = 2048
PACKET_MR_MULTICAST = 0  # linux/if_packet.h
_MEMBERSHIP = struct.Struct("iHH8s")

Says = Callable[[int], ClarionPort]  # what a port says of itself
Hears = Callable[[int, bytes, int], None]  # port, frame, time in us


def chassis_id(card: str) -> str:
    """The name of a card for its neighbours: that of the host and its own; the same after a restart."""
    own = f"/{card}".encode()[-MAX_CHASSIS_BYTES // 2 :]
    host = os.uname().nodename.encode()[: MAX_CHASSIS_BYTES - len(own)]
    return (host + own).decode(errors="ignore")


def device_of(card: str, port: int) -> str | None:
    """The network device of a port: function N of an OpenNIC card is its port N. None: there is none."""
    function = place.PCI_DEVICES / f"{card.rpartition('.')[0]}.{port}" / "net"
    return next((each.name for each in sorted(function.glob("*"))), None)


def open_socket(card: str, port: int) -> socket.socket | None:
    """A socket for the neighbours at a port; None without a network device, or without the right to it."""
    device = device_of(card, port)
    if device is None:
        return None
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
    try:
        membership = _MEMBERSHIP.pack(socket.if_nametoindex(device), PACKET_MR_MULTICAST, len(GROUP), GROUP)
        made.setsockopt(socket.SOL_PACKET, socket.PACKET_ADD_MEMBERSHIP, membership)  # type: ignore[attr-defined]
        made.bind((device, ETHERTYPE))
    except OSError as error:
        made.close()
        _log.warning("%s: port %d: no LLDP on %s: %s", card, port, device, error.strerror)
        return None
    return made


class CardLldp:
    """The neighbours of a card's ports. Times are microseconds of the agent's clock, from its start."""

    def __init__(self, chassis: str, sockets: Mapping[int, socket.socket]) -> None:
        self.chassis = chassis
        self._sockets = sockets
        self._neighbours = {port: Neighbours() for port in sockets}
        self._born = time.monotonic()

    def now_us(self) -> int:
        """The present time."""
        return int((time.monotonic() - self._born) * 1e6)

    def verdicts(self) -> dict[int, Verdict]:
        """What the neighbours alive say of the wire at each port."""
        now = self.now_us()
        return {port: judge(each.alive(now)) for port, each in self._neighbours.items()}

    async def run(self, says: Says, hears: Hears) -> None:
        """Sends and hears until it is cancelled; then says goodbye."""
        loop = asyncio.get_running_loop()
        for port, each in self._sockets.items():
            loop.add_reader(each, self._receive, port, hears)
        try:
            while True:
                self._send(says, TTL_S)
                await asyncio.sleep(HELLO_EVERY_S)
        finally:
            for each in self._sockets.values():
                loop.remove_reader(each)
            self._send(says, 0)

    def close(self) -> None:
        """Closes the sockets."""
        for each in self._sockets.values():
            each.close()

    def _send(self, says: Says, ttl_s: int) -> None:
        for port, each in self._sockets.items():
            said = says(port)
            hello = our_hello(
                self.chassis, f"port{port}", stamps=said.stamps, checks=said.checks, ttl_s=ttl_s
            )
            with contextlib.suppress(OSError):  # a device that is down: its neighbour notices
                each.send(encode(_address(each, port), hello))

    def _receive(self, port: int, hears: Hears) -> None:
        with contextlib.suppress(OSError):
            frame = self._sockets[port].recv(MAX_FRAME_BYTES)
            with contextlib.suppress(LldpError):
                self._neighbours[port].hear(decode(frame), self.now_us())
            hears(port, frame, self.now_us())


def _address(bound: socket.socket, port: int) -> bytes:
    """The device's own address, or a local one."""
    name = bound.getsockname()
    known = name[4] if isinstance(name, tuple) and len(name) == 5 else b""
    return known if isinstance(known, bytes) and len(known) == 6 else bytes([2, 0, 0, 0, 0, port])
