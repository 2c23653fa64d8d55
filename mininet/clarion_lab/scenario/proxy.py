# SPDX-License-Identifier: Apache-2.0
"""The pair of proxies that a scenario puts between its applications and the path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NO_PROXY = "none"  # as a law, so that a sweep has plain TCP beside the laws
PORT = 4433  # UDP, of the servers
SHIM_HEADERS = ("auto",)  # settings of `header` with which the hosts carry the shim


@dataclass(frozen=True)
class ProxySettings:
    """What both ends of every pair are told."""

    law: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    header: str = "auto"
    buffer_mib: int | None = None
    predict_loss_percent: int | None = None  # probability at which a packet is sent again
    early: bool = False  # whether connections may be opened by 0-RTT data

    @property
    def uses_shim(self) -> bool:
        """Whether its hosts carry Clarion's shim, which puts the header on QUIC's packets."""
        return self.header in SHIM_HEADERS

    def options(self) -> list[str]:
        """Of the command line, the same at both ends."""
        options = ["--law", self.law, "--header", self.header]
        for key, value in self.parameters.items():
            options += ["--set", f"{key}={value}"]
        if self.buffer_mib is not None:
            options += ["--buffer-mib", str(self.buffer_mib)]
        if self.predict_loss_percent is not None:
            options += ["--predict-loss", str(self.predict_loss_percent)]
        return options


def parse_proxy(document: Mapping[str, Any]) -> ProxySettings | None:
    """That of a scenario's object, which fits the schema; None for the law "none"."""
    if document["law"] == NO_PROXY:
        return None
    buffer_mib = document.get("buffer-mib")
    predict_loss = document.get("predict-loss")
    return ProxySettings(
        law=document["law"],
        parameters={key: str(value) for key, value in document.get("set", {}).items()},
        header=document.get("header", "auto") or "off",  # YAML reads a plain off as false
        buffer_mib=None if buffer_mib is None else int(buffer_mib),
        predict_loss_percent=None if predict_loss is None else int(predict_loss),
        early=document.get("early", False),
    )
