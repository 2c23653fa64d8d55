# SPDX-License-Identifier: Apache-2.0
"""The ground truth: every packet that the switch lost, read from its log and assigned to its flow."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from clarion_lab.recording.recording import LossRecord
from clarion_lab.scenario import proxy, tunnel
from clarion_lab.scenario.topology import Network

LOG = "truth.csv"  # of a run's switches
CARRIERS = {proxy.PORT, tunnel.PORT}
TCP, UDP = TRANSPORTS = (6, 17)
Assignment = tuple[int, bool]  # the flow, and whether in the direction of its data
NO_FLOW: Assignment = (-1, True)


class FlowTable:
    """Which flow a packet belongs to."""

    def __init__(self, network: Network) -> None:
        self._flows: dict[tuple[str, int, str, int], Assignment] = {}
        self._carried = _carried(network)
        for number, ends in enumerate(network.endpoints):
            sender, receiver = ends.sender.address, ends.receiver.address
            self._flows[sender, ends.sport, receiver, ends.dport] = number, True
            self._flows[receiver, ends.dport, sender, ends.sport] = number, False

    def find(self, protocol: int, source: str, sport: int, destination: str, dport: int) -> Assignment:
        """The flow of a packet's addresses and ports; NO_FLOW if it is no flow's."""
        if protocol not in TRANSPORTS:
            return NO_FLOW
        if protocol == UDP and {sport, dport} & CARRIERS:
            return self._carried.get((source, destination), NO_FLOW)
        for key in (
            (source, sport, destination, dport),
            (source, 0, destination, dport),
            (source, sport, destination, 0),
        ):
            if key in self._flows:
                return self._flows[key]
        return NO_FLOW


def _carried(network: Network) -> dict[tuple[str, str], Assignment]:
    """The flows in other datagrams, by source and destination, where these carry one flow only."""
    found: dict[tuple[str, str], Assignment] = {}
    counts = Counter(
        frozenset((pair.client.name, pair.server.name)) for pair in network.carriers for _ in pair.flows
    )
    for pair in network.carriers:
        if counts[frozenset((pair.client.name, pair.server.name))] == 1:
            number = pair.flows[0]
            ends = network.endpoints[number]
            found[ends.sender.address, ends.receiver.address] = number, True
            found[ends.receiver.address, ends.sender.address] = number, False
    return found


def read(
    path: Path, network: Network, start_us: int, ports: Mapping[str, str] | None = None
) -> list[LossRecord]:
    """The losses in a truth log; `start_us` is the run's start on the log's clock. `ports` gives the plan's
    names for ports that the log names otherwise. A torn last line is skipped.
    """
    flows = FlowTable(network)
    names = ports or {}
    losses: list[LossRecord] = []
    if not path.exists():
        return losses
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines):
            if row["bucket"] is None:
                continue
            flow, forward = flows.find(
                int(row["proto"]), row["src"], int(row["sport"]), row["dst"], int(row["dport"])
            )
            losses.append(
                LossRecord(
                    time_us=int(row["time_us"]) - start_us,
                    flow=flow,
                    forward=forward,
                    cause=row["cause"],
                    port=names.get(row["port"], row["port"]),
                    bytes=int(row["bytes"]),
                    payload_bytes=int(row["payload_bytes"]),
                    header=int(row["format"]),
                )
            )
    return losses
