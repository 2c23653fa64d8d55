# SPDX-License-Identifier: Apache-2.0
"""LLDP at the ports of one switch: hears their neighbours, and for a switch that does not speak LLDP by
itself says hello and gives it the verdicts on its wires.

A verdict is a lease of a few seconds by the switch's own clock: it ends with the neighbour's hellos, and with
this controller.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import time
from collections.abc import Callable, Mapping
from functools import lru_cache

from clarion_contract import lldp
from clarion_contract.neighbours import US_PER_S, Judgement, Neighbour, Neighbours, Verdict, judge
from clarion_contract.settings import PortSettings
from clarion_p4rt.device import Device, Lease, OwnLldp, PacketIn
from clarion_p4rt.errors import SESSION_OVER, SwitchError
from clarion_p4rt.switch import Switch

LOG = logging.getLogger(__name__)

HELLOS_PER_TTL = lldp.TTL_S // lldp.HELLO_EVERY_S
IDLE_S = 0.2  # between two looks whether the switch may be written
PAUSE_S = 0.05  # between two writes of leases, however often neighbours change
FRAMES = 4096  # hellos kept with what they say: a port says the same every second

Settings = Callable[[], Mapping[int, PortSettings]]


_decoded = lru_cache(FRAMES)(lldp.decode)


def monotonic_us() -> int:
    """A clock that is never set."""
    return time.monotonic_ns() // 1000


class Wires:
    """The wires of one switch; the neighbours outlive sessions. `settings` are those that the switch has, and
    `is_writable` says whether it takes leases and frames now. `hello_s` is the time between two hellos.
    """

    def __init__(
        self,
        switch: Switch,
        settings: Settings,
        *,
        is_writable: Callable[[], bool] = lambda: True,
        hello_s: Callable[[], float] = lambda: lldp.HELLO_EVERY_S,
        clock: Callable[[], int] = monotonic_us,
    ) -> None:
        self._switch = switch
        self._settings = settings
        self._is_writable = is_writable
        self._hello_s = hello_s
        self._clock = clock
        self._unix_us = time.time_ns() // 1000 - clock()  # at the clock's zero
        self._neighbours = {port: Neighbours() for port in switch.ports}
        self._own: OwnLldp | None = None
        self._changed = asyncio.Event()
        # Of this session: the last frame's arrival by our clock and the switch's, and the ports heard.
        self._arrival_us: tuple[int, int] | None = None
        self._heard: set[int] = set()
        self._warning = ""

    @property
    def judges_itself(self) -> bool:
        """Whether the switch speaks LLDP and judges its wires by itself."""
        return self._own is not None

    @property
    def chassis_id(self) -> str:
        """The switch's name in hellos."""
        return self._switch.name if self._own is None else self._own.chassis_id

    def port_id(self, port: int) -> str:
        """A port's name in hellos."""
        return str(port) if self._own is None else self._own.ports.get(port, str(port))

    def neighbours(self, port: int) -> list[Neighbour]:
        """The neighbours alive at a port."""
        return self._neighbours[port].alive(self._clock())

    def since_us(self, neighbour: Neighbour) -> int:
        """When a neighbour was heard first, as Unix time."""
        return self._unix_us + neighbour.since_us

    def verdict(self, port: int) -> Verdict:
        """What the neighbours alive say of the wire at a port."""
        return judge(self.neighbours(port))

    def hear(self, packet: PacketIn) -> None:
        """Takes a frame from the switch; what is no legal LLDP frame at one of its ports is left out."""
        if packet.port not in self._neighbours or not lldp.is_lldp(packet.frame):
            return
        try:
            hello = _decoded(packet.frame)
        except lldp.LldpError as error:
            LOG.debug("%s port %d: %s", self._switch.name, packet.port, error)
            return
        now_us = self._clock()
        if self.judges_itself:
            self._neighbours[packet.port].hear(hello, now_us)
            return
        before = self.verdict(packet.port).judgement
        self._neighbours[packet.port].hear(hello, now_us)
        if self._arrival_us is None or self.verdict(packet.port).judgement is not before:
            self._changed.set()
        self._arrival_us = now_us, packet.time_us
        self._heard.add(packet.port)

    async def keep(self, device: Device) -> None:
        """Says hello and renews the leases for as long as a session lasts; SwitchError when it is over."""
        self._arrival_us = None
        self._heard.clear()
        self._own = await self._ask(device)
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while not self.judges_itself:
            self._changed.clear()
            is_writable = self._is_writable()
            if is_writable:
                is_due = loop.time() >= due_s
                if is_due:
                    due_s = loop.time() + self._hello_s()
                await self._work(device, is_due)
            await asyncio.sleep(PAUSE_S)
            wait_s = max(0.0, due_s - loop.time()) if is_writable else IDLE_S
            alarm = loop.call_later(wait_s, self._changed.set)
            try:
                await self._changed.wait()
            finally:
                alarm.cancel()

    async def _ask(self, device: Device) -> OwnLldp | None:
        """Whether the switch judges itself, as far as it says."""
        try:
            return await device.own_lldp()
        except SwitchError as error:
            self._failed(error)
            return None

    async def _work(self, device: Device, is_due: bool) -> None:
        """One round; what the switch refuses is logged and tried again in the next."""
        try:
            if is_due:
                for port, settings in self._settings().items():
                    await device.send(port, self._hello(port, settings))
            leases = self._leases()
            if leases:
                await device.lease(leases)
            self._warning = ""
        except SwitchError as error:
            self._failed(error)

    def _failed(self, error: SwitchError) -> None:
        if error.code in SESSION_OVER:
            raise error
        if str(error) != self._warning:
            self._warning = str(error)
            LOG.warning("LLDP: %s", error)

    def _hello(self, port: int, settings: PortSettings) -> bytes:
        hello = lldp.our_hello(
            self.chassis_id,
            self.port_id(port),
            stamps=settings.stamp,
            checks=settings.check,
            ttl_s=self._ttl_s(),
        )
        # Of our own OUI; it need not be unique, as no bridge forwards the frame.
        source = lldp.OUI + hashlib.sha256(self.chassis_id.encode()).digest()[:2] + bytes([port & 0xFF])
        return lldp.encode(source, hello)

    def _ttl_s(self) -> int:
        """For how long a hello and a lease count."""
        return max(lldp.TTL_S, math.ceil(HELLOS_PER_TTL * self._hello_s()))

    def _leases(self) -> dict[int, Lease | None]:
        """The verdicts on all ports heard in this session. The others keep what an earlier controller has
        leased, so that its restart interrupts no proof.
        """
        if self._arrival_us is None:
            return {}
        ours_us, switch_us = self._arrival_us
        # A neighbour may promise to be there for hours: no lease outlives this controller for so long.
        last_us = self._clock() + self._ttl_s() * US_PER_S
        leases: dict[int, Lease | None] = {}
        for port in sorted(self._heard):
            verdict = self.verdict(port)
            if verdict.until_us is None:
                leases[port] = None
            else:
                until_us = switch_us + min(verdict.until_us, last_us) - ours_us
                leases[port] = Lease(verdict.judgement is Judgement.PROVEN, until_us)
        return leases
