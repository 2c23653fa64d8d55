# SPDX-License-Identifier: Apache-2.0
"""Errors of settings that are refused before they reach a switch."""

from __future__ import annotations

from clarion_base.faults import Fault, FaultError, Path, dotted
from clarion_contract.settings import PORT


class SettingsError(FaultError):
    """Settings that no switch may get, in words as `SWITCH: ENTRY: VALUE: what would be right`.

    The path of `fault` is that in the JSON of the settings, such as ("xcp", "alpha") of `port`.
    """

    def __init__(self, switch: str, fault: Fault, port: int | None = None) -> None:
        super().__init__(Fault((_entry(fault.path, port),), fault.reason, fault.code), switch)
        self.fault = fault
        self.switch = switch
        self.port = port


def _entry(path: Path, port: int | None) -> str:
    """The entry of a table that the field is in, as a switch names it."""
    if path[:1] == ("addresses",):
        return f"l2_forward[{path[1]}]"
    if port is None:
        return dotted(path)
    if path[:1] == ("xcp",):
        return dotted(("xcp_port", port, *path[1:]))
    table = "queue_port" if path and path[0] in PORT and PORT[str(path[0])].kind != "flag" else "port"
    return dotted((table, port, *path))
