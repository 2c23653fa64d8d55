# SPDX-License-Identifier: Apache-2.0
"""The switches and links of a run as the rest of a run sees them, whatever carries them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from clarion_lab.recording.recording import LossRecord, QueueHistogram, Recording


class Switches(Protocol):
    """All switches of one run and the links between them and the hosts."""

    cpu: int | None
    """What their process is bound to. Hosts take in their packets elsewhere, where the kernel can steer them;
    other processes may run there, too. None: they run anywhere.
    """

    def devices(self) -> list[str]:
        """The devices that building creates in the namespace of the runner."""

    def build(self, check: Callable[[], None]) -> Any:
        """The Mininet network with its hosts, built but not started; starting it starts the switches.
        `check` is called between hosts and may raise to stop the building; what was built is then removed.
        """

    def check(self) -> None:
        """RunFailedError if a switch has died."""

    def plan_changes(self, zero_us: int) -> None:
        """Tells the switches what changes during the run, and when: links, restarts. `zero_us` is the run's
        start on CLOCK_MONOTONIC.
        """

    def sample(self, now_us: int, recording: Recording, window_open: bool) -> None:
        """Appends a sample of every port; `window_open` from the start of the measured window on."""

    def finish(self) -> None:
        """Follows the last sample of a complete run: waits for what comes late; RunFailedError if it does
        not come.
        """

    def stop(self) -> None:
        """Stops the switches; what they lost is known afterwards."""

    def truth(self, zero_us: int) -> list[LossRecord]:
        """Every packet that a link or a queue lost, marked or changed; `zero_us` is the run's start on
        CLOCK_MONOTONIC.
        """


def note_histogram(
    recording: Recording, port: str, edges: list[int], spent_us: list[int], window_open: bool
) -> None:
    """Keeps a port's latest queue histogram, and the last one before the measured window opened."""
    histogram = recording.histograms.setdefault(port, QueueHistogram(lower_edges_bytes=edges))
    histogram.latest_us = spent_us
    if not window_open or not histogram.at_window_start_us:
        histogram.at_window_start_us = spent_us
