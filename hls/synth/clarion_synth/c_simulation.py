# SPDX-License-Identifier: Apache-2.0
"""How C simulation of the block is compiled."""

from __future__ import annotations

from clarion_synth.targets import ROOT

AP_TYPES = ROOT / "build" / "ap_types"  # the integer headers of HLS tools, which `make` gets
SIM = ROOT / "hls" / "sim"


def flags() -> list[str]:
    """Return the options of every compilation."""
    quiet = [f"-Wno-{what}" for what in ("unknown-pragmas", "uninitialized", "maybe-uninitialized")]
    return ["-std=c++17", *quiet, f"-I{ROOT}", f"-I{SIM / 'shim'}", "-isystem", str(AP_TYPES)]
