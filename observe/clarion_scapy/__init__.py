# SPDX-License-Identifier: Apache-2.0
"""The Clarion header as layers of scapy: makes and takes apart packets with it (docs/wire-format.md).

    >>> from clarion_scapy import Clarion, ClarionTag
    >>> packet = Ether() / IP(dst="10.0.0.2") / ClarionTag(bucket=7) / TCP() / b"payload"
    >>> packet[Clarion].bucket

`rtt` and `x` are seconds; all other fields are integers as on the wire. The checksums of TCP and UDP
follow from the addresses in front of the header. What no router would take for a header is Raw.
"""

from __future__ import annotations

from clarion_scapy.layer import Clarion, ClarionAck, ClarionData, ClarionTag

__all__ = ["Clarion", "ClarionAck", "ClarionData", "ClarionTag"]
