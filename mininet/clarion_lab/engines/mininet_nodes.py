# SPDX-License-Identifier: Apache-2.0
"""Mininet's switch, link and network classes for a run.

All ClarionSwitch of a ClarionNet are one clarion-switch process. A link between two of them is inside that
process and needs no device; every other link is a veth pair. What carries the packets starts last and stops
first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Debian's Mininet imports distutils
    from mininet.link import Link
    from mininet.net import Mininet
    from mininet.node import Host, Switch

from clarion_lab.scenario.topology import Cable, PlannedHost


class Carrier(Protocol):
    """The processes that carry the packets of a network."""

    def start(self) -> None:
        """Returns when packets are forwarded."""

    def stop(self) -> None:
        """Stops them; may be called again."""


class ClarionSwitch(Switch):  # type: ignore[misc]
    """A switch of the embedded process; the network starts it."""

    def start(self, controllers: list[Any]) -> None:
        """Nothing to start here: ClarionNet starts the one process for all."""

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 - Mininet's name
        """Removes its devices; the process has stopped by then."""
        super().stop(deleteIntfs)


class ClarionLink(Link):  # type: ignore[misc]
    """A veth pair, or nothing but a note between two switches of the embedded process."""

    def __init__(self, node1: Any, node2: Any, **params: Any) -> None:
        self.internal = isinstance(node1, ClarionSwitch) and isinstance(node2, ClarionSwitch)
        if not self.internal:
            super().__init__(node1, node2, **params)

    def stop(self) -> None:
        """Removes the veth pair, if there is one."""
        if not self.internal:
            super().stop()

    def status(self) -> str:
        """Mininet's description of the link."""
        return "(internal)" if self.internal else str(super().status())


class ClarionNet(Mininet):  # type: ignore[misc]
    """A network of hosts around switches, built from a plan."""

    def __init__(
        self,
        hosts: Iterable[PlannedHost],
        switches: Mapping[str, Callable[..., Switch]],
        cables: Iterable[Cable],
        carrier: Carrier,
        check: Callable[[], None],
    ) -> None:
        """`switches` are constructors by name. `check` is called between nodes and between cables and may
        raise to stop the building; what was built is then removed.
        """
        super().__init__(controller=None, link=ClarionLink, build=False)
        self.carrier = carrier
        try:
            for number, (name, constructor) in enumerate(switches.items(), start=1):
                check()
                self.addSwitch(name, cls=constructor, dpid=f"{number:016x}")
            for host in hosts:
                check()
                self.addHost(host.name, ip=f"{host.address}/8", mac=host.mac)
            for cable in cables:
                check()
                names = dict(zip(("intfName1", "intfName2"), cable.devices, strict=False))
                self.addLink(*(self[node] for node in cable.nodes), **names)
            self.build()
        except BaseException:
            self.stop()
            raise

    @classmethod
    def init(cls) -> None:
        """Mininet raises global limits and buffer sizes here; Clarion sets what it needs per host instead."""

    def start(self) -> None:
        """Starts hosts and switches, then what carries the packets."""
        super().start()
        self.carrier.start()

    def stop(self) -> None:
        """Stops what carries the packets, then removes hosts and devices."""
        self.carrier.stop()
        super().stop()


__all__ = ["Carrier", "ClarionLink", "ClarionNet", "ClarionSwitch", "Host", "Switch"]
