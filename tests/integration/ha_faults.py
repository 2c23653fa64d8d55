# SPDX-License-Identifier: Apache-2.0
"""The faults that two controllers of one store have to bear."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from integration.ha_net import Agent, Controller, Database, Net, Way, both_ways

SHORTEST_S, LONGEST_S = 0.5, 6.0
LONGEST_STOP_S = 9.0  # longer than switches and database wait for a sign of life


@dataclass(frozen=True)
class Victims:
    """The processes that faults hit."""

    primary: Controller
    backup: Controller
    database: Database
    agent: Agent


def faults(net: Net, victims: Victims, rng: random.Random) -> dict[str, Callable[[], None]]:
    """The kinds of faults, each with a function that begins one and returns when it has lasted. Processes run
    again then; partitions are the caller's to heal.
    """
    hit, spared = rng.choice(
        [
            (victims.primary, victims.backup),
            (victims.primary, victims.backup),
            (victims.backup, victims.primary),
        ]
    )
    here, there = hit.machine, spared.machine
    lasts_s = rng.uniform(SHORTEST_S, LONGEST_S)
    way = rng.choice([("db", here), (here, "db"), ("sw", here), (here, "sw")])

    def killed(victim: Controller | Agent | Database) -> Callable[[], None]:
        def kill() -> None:
            victim.kill()
            time.sleep(lasts_s / 2)
            victim.start()

        return kill

    def stopped() -> None:
        victims.primary.signal(signal.SIGSTOP)
        time.sleep(lasts_s * LONGEST_STOP_S / LONGEST_S)
        victims.primary.signal(signal.SIGCONT)

    def cut(*ways: Way) -> Callable[[], None]:
        def begin() -> None:
            net.cut(ways)
            time.sleep(lasts_s)

        return begin

    def unplugged(machine: str) -> Callable[[], None]:
        def begin() -> None:
            net.unplug(machine)
            time.sleep(lasts_s)

        return begin

    return {
        "kill -9, primary": killed(victims.primary),
        "kill -9, backup": killed(victims.backup),
        "kill -9, database": killed(victims.database),
        "kill -9, agent": killed(victims.agent),
        "SIGSTOP, primary": stopped,
        "cut, controller - database": cut(*both_ways(here, "db")),
        "cut, controller - switches": cut(*both_ways(here, "sw")),
        "cut, controller - clients and other controller": cut(*both_ways(here, "cl", there)),
        "cut, controller - all": unplugged(here),
        "cut, database - all": unplugged("db"),
        "cut, one way of controller - database or switches": cut(way),
    }
