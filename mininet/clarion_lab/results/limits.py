# SPDX-License-Identifier: Apache-2.0
"""What the path of a scenario's flows can carry at most, and what of it survives the errors of its links."""

from __future__ import annotations

import math

from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.frames import frame_bytes, payload_share
from clarion_lab.scenario.links import Link
from clarion_lab.scenario.loss import LossModel
from clarion_lab.scenario.model import Scenario


def payload_ceiling(scenario: Scenario, begin_us: int = 0, end_us: int = 0) -> float | None:
    """Payload bit/s that the tightest crossed bottleneck carries between two instants, headers taken off;
    None if paths differ.

    Flows of different header formats count with equal shares of the link.
    """
    first = scenario.flows[0]
    if any(flow.udp for flow in scenario.flows):
        return None
    paths = {(flow.route, flow.reverse) for flow in scenario.flows}
    if len(paths) > 1:
        return None
    rate = min(
        link.rate_steps.mean(link.rate_of(first.direction_over(hop)), begin_us, end_us, float)
        for hop, link in zip(first.route, scenario.links_of(first), strict=True)
    )
    return rate * sum(payload_share(flow.header) for flow in scenario.flows) / len(scenario.flows)


def survival(scenario: Scenario, flow: Flow, begin_us: int = 0, end_us: int = 0) -> float:
    """The share of a flow's full-size packets that survive the errors of its path, on average between two
    instants.
    """
    size = frame_bytes(flow.header)

    def survives(link: Link, forward: bool) -> float:
        def share(losses: tuple[LossModel, LossModel]) -> float:
            return 1 - losses[0 if forward else 1].mean_packet_loss(size)

        return link.loss_steps.mean((link.forward_loss, link.reverse_loss), begin_us, end_us, share)

    on_way = (survives(scenario.bottlenecks[hop.link], hop.forward != flow.reverse) for hop in flow.route)
    return survives(scenario.access, not flow.reverse) ** 2 * math.prod(on_way)
