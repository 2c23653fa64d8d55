# SPDX-License-Identifier: Apache-2.0
"""Which CPUs a run's processes and packets get.

A frame that a switch hands to a host is otherwise taken through the host's whole TCP on the CPU of the
switch, before the switch can go on: with 32 flows at 1 Gbit/s it fell behind by more than a round trip. And a
switch that changes CPUs reorders what it sends, since each CPU has a receive queue of its own. Nothing keeps
other processes, such as those of the hosts, off the CPU that the switch is bound to.
"""

from __future__ import annotations

import os

MASKABLE_CPUS = 32  # one word of rps_cpus


def of_switch() -> int | None:
    """The CPU that a switch process is bound to; None where there is only one."""
    cpus = _cpus()
    return cpus[-1] if len(cpus) > 1 else None


def mask_without(cpu: int) -> str:
    """All other CPUs, as `rps_cpus` has them."""
    return f"{sum(1 << other for other in _cpus() if other != cpu):x}"


def _cpus() -> list[int]:
    return sorted(cpu for cpu in os.sched_getaffinity(0) if cpu < MASKABLE_CPUS)
