# SPDX-License-Identifier: Apache-2.0
"""The switches of a clarion-switch process as targets."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clarion_agent import links
from clarion_base.errors import UserError
from clarion_contract.settings import CPU_PORT
from clarion_contract.target import (
    Change,
    Judged,
    Listener,
    Note,
    Present,
    Reset,
    SetEntry,
    SetFlood,
    TargetError,
)
from clarion_switch.control_socket import ControlSocket
from clarion_switch.protocol import Json

_log = logging.getLogger(__name__)

DIGESTS = {"interval_report_t": "intervals", "queue_drop_t": "drops"}  # and the list of `subscribe`
PARTS = {"tag_port": "tag", "xcp_port": "xcp", "queue_port": "queue_limit", "stamp_port": "stamp"}


class EmbeddedSwitch:
    """One switch of the process."""

    measures_capacity = True

    def __init__(
        self,
        process: SwitchConnection,
        name: str,
        ports: Mapping[int, str],
        chassis_id: str | None,
        netdevs: Mapping[int, str] | None = None,
    ) -> None:
        self.name = name
        self.ports = ports
        self.chassis_id = chassis_id
        self.digests: Sequence[str] = ()
        self.packets = False
        self.listener: Listener | None = None
        self._process = process
        self._netdevs = netdevs or {}

    def listen(self, listener: Listener) -> None:
        """Sets the listener of reports."""
        self.listener = listener

    async def want(self, digests: Sequence[str], packets: bool) -> None:
        """Subscribes to digests, and to frames for the controller."""
        if (list(self.digests), self.packets) != (list(digests), packets):
            self.digests, self.packets = tuple(digests), packets
            await self._process.subscribe()

    def is_atomic(self, changes: Sequence[Change]) -> bool:
        """Any batch is carried out between two packets."""
        return True

    def down(self) -> frozenset[int]:
        """The ports whose network device has no link; those of links within the process are up."""
        return links.down(self._netdevs)

    async def apply(self, changes: Sequence[Change]) -> None:
        """Applies all changes between two packets, or none."""
        await self._ask("batch", changes=[_encoded(change) for change in changes])

    async def present(self) -> Present:
        """The entries, flood group and note of the switch."""
        reply = await self._ask("entries")
        entries: dict[tuple[str, int], Mapping[str, int]] = {}
        for port in reply["ports"]:
            entries.update(_decoded(port))
        for address, to in reply["addresses"]:
            entries["l2_forward", address] = {"port": to}
        flood = reply["flood"]
        return Present(entries, None if flood is None else tuple(flood), reply["note"])

    async def registers(self, name: str, first: int, count: int) -> Sequence[int]:
        """Reads consecutive cells of an array."""
        values: list[int] = (await self._ask("registers", register=name, first=first, count=count))["values"]
        return values

    async def counters(self) -> Mapping[str, Mapping[int, tuple[int, int]]]:
        """Packets and bytes by array and port."""
        arrays = (await self._ask("counters"))["counters"]
        return {
            name: {port: (packets, size) for port, packets, size in cells} for name, cells in arrays.items()
        }

    async def inject(self, frame: bytes, port: int | None) -> None:
        """Sends or forwards a frame from the controller."""
        await self._ask("inject", frame=frame.hex(), **({} if port is None else {"port": port}))

    async def judged(self) -> Mapping[int, Judged]:
        """The wires of which LLDP says something."""
        wires = (await self._ask("wires"))["ports"]
        return {
            wire["port"]: Judged(wire["judgement"] == "proven", wire["until_us"])
            for wire in wires
            if wire["judgement"] != "unproven"
        }

    async def _ask(self, command: str, **arguments: Any) -> Json:
        return await self._process.ask({"cmd": command, "switch": self.name, **arguments})


class SwitchConnection:
    """A clarion-switch process: all its switches over one connection."""

    def __init__(self, path: Path) -> None:
        self.switches: list[EmbeddedSwitch] = []
        self._socket = ControlSocket(path, self._on_event)
        self._by_name: dict[str, EmbeddedSwitch] = {}

    async def open(self) -> None:
        """Connects and lists the switches; UserError if no process answers."""
        try:
            await self._socket.open()
            described = await self.ask({"cmd": "info"})
        except (OSError, TargetError) as error:
            await self.close()
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            raise UserError(
                f"--control: {self._socket.path}: {reason}; start clarion-switch with --control first"
            ) from error
        for each in described["switches"]:
            ports = {port["number"]: port["name"] for port in each["ports"] if port["number"] <= CPU_PORT}
            chassis_id = each["chassis_id"] if described["lldp"] else None
            netdevs = {
                port["number"]: port["netdev"]
                for port in each["ports"]
                if port["number"] in ports and port.get("netdev")
            }
            self._by_name[each["name"]] = EmbeddedSwitch(self, each["name"], ports, chassis_id, netdevs)
        self.switches = list(self._by_name.values())

    def keep(self) -> None:
        """From now on reconnects when the process is started again."""
        self._socket.keep(self._on_connected)

    async def close(self) -> None:
        """Disconnects; the process goes on."""
        await self._socket.close()

    async def ask(self, command: Mapping[str, Any]) -> Json:
        """The reply to one command."""
        return await self._socket.ask(command)

    async def subscribe(self) -> None:
        """Subscribes to the digests and frames of all switches at once."""
        command: dict[str, Any] = {"cmd": "subscribe"}
        for digest, key in DIGESTS.items():
            command[key] = [each.name for each in self.switches if digest in each.digests]
        command["packets"] = [each.name for each in self.switches if each.packets]
        await self.ask(command)

    async def _on_connected(self) -> None:
        await self.subscribe()
        for each in self.switches:
            if each.listener is None:
                continue
            try:
                await each.listener.on_connected()
            except TargetError as error:
                if error.gone:
                    raise
                # Its configuration may lack a port now, for instance. The other switches still get theirs.
                _log.warning("%s does not take its entries back: %s", each.name, error)

    def _on_event(self, kind: str, value: Any) -> None:
        if kind == "lost":
            for each in self.switches:
                if each.listener is not None and (each.digests or each.packets):
                    each.listener.on_lost(value)
            return
        switch = self._by_name.get(value[0])
        if switch is None or switch.listener is None:
            return
        if kind == "interval":
            if "interval_report_t" in switch.digests:
                switch.listener.on_digest("interval_report_t", tuple(value[1:]))
        elif kind == "drop":
            if "queue_drop_t" in switch.digests:
                members = (*value[1:4], int(value[4], 16), int(value[5], 16), *value[6:])
                switch.listener.on_digest("queue_drop_t", members)
        elif switch.packets:
            port, time_us, frame = value[1:]
            switch.listener.on_packet(bytes.fromhex(frame), port, time_us)


def _encoded(change: Change) -> Json:
    match change:
        case SetEntry(table="l2_forward", key=key, arguments=arguments):
            return {"address": key, "to": None if arguments is None else arguments["port"]}
        case SetEntry(table=table, key=key, arguments=arguments):
            return {"port": key, PARTS[table]: _part(table, arguments)}
        case SetFlood(ports=ports):
            return {"flood": None if ports is None else list(ports)}
        case Reset():
            return {"reset": True}
        case Note(text=text):
            return {"note": text}


def _part(table: str, arguments: Mapping[str, int] | None) -> Any:
    if table == "stamp_port":
        return arguments is not None
    if arguments is None:
        return None
    if table == "queue_port":
        return arguments["limit_bytes"]
    if table == "tag_port":
        return {name: value if name == "epoch" else value == 1 for name, value in arguments.items()}
    return dict(arguments)


def _decoded(port: Json) -> dict[tuple[str, int], Mapping[str, int]]:
    number = port["port"]
    found: dict[tuple[str, int], Mapping[str, int]] = {}
    if port["tag"] is not None:
        found["tag_port", number] = {name: int(value) for name, value in port["tag"].items()}
    if port["xcp"] is not None:
        found["xcp_port", number] = port["xcp"]
    if port["stamp"]:
        found["stamp_port", number] = {}
    if port["queue_limit"] is not None:
        found["queue_port", number] = {"limit_bytes": port["queue_limit"]}
    return found
