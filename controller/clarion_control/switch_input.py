# SPDX-License-Identifier: Apache-2.0
"""The checks of a switch that is added or changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clarion_contract.checks import checked_ports
from clarion_contract.errors import SettingsError
from clarion_control.errors import FieldError
from clarion_p4rt import plaintext, refusals
from clarion_p4rt.switch import Switch, TlsFiles

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+):(\d{1,5})")
_SOCKET = re.compile(r"unix:/[^/\x00-\x1f\x7f][^\x00-\x1f\x7f]{0,105}")
MAX_DEVICE_ID = 2**63 - 1


def checked_switch(
    name: str,
    address: str,
    device_id: int,
    ports: Sequence[int],
    tls: TlsFiles | None,
    port_names: Mapping[int, str] | None = None,
) -> Switch:
    """A switch without uid yet; FieldError names the field to correct."""
    if not _NAME.fullmatch(name):
        raise FieldError(
            "name", "use up to 63 letters, digits, dots, - and _, beginning with a letter or digit"
        )
    _check_address(address)
    if isinstance(device_id, bool) or not 1 <= device_id <= MAX_DEVICE_ID:
        raise FieldError("device_id", f"use a whole number from 1 to {MAX_DEVICE_ID}")
    if not ports:
        raise FieldError("ports", "name at least one port")
    try:
        listed = checked_ports(name, ("ports",), ports)
    except SettingsError as error:
        raise FieldError("ports", error.fault.reason) from None
    _check_files(tls)
    named = _checked_names(listed, port_names or {})
    return Switch(0, name, address, device_id, tuple(listed), tls, port_names=named)


async def check_protected(switch: Switch) -> None:
    """FieldError for a switch of another machine without TLS."""
    if switch.tls is None and await plaintext.local_target(switch.address) is None:
        raise FieldError("tls", f"is missing, and {switch.address} is not this machine; {refusals.PROTECT}")


def _check_address(address: str) -> None:
    match = _ADDRESS.fullmatch(address)
    if _SOCKET.fullmatch(address) or (match and 1 <= int(match.group(2)) <= 65535):
        return
    raise FieldError("address", "use HOST:PORT, such as 127.0.0.1:9559, or unix:/PATH")


def _check_files(tls: TlsFiles | None) -> None:
    for field in ("ca", "certificate", "key") if tls is not None else ():
        if not getattr(tls, field):
            raise FieldError(f"tls.{field}", "name a PEM file")


def _checked_names(ports: Sequence[int], names: Mapping[int, str]) -> dict[int, str]:
    for port, name in names.items():
        if port not in ports:
            raise FieldError(f"port_names.{port}", f"no such port; use {', '.join(map(str, ports))}")
        if not _NAME.fullmatch(name):
            raise FieldError(
                f"port_names.{port}",
                "use up to 63 letters, digits, dots, - and _, beginning with a letter or digit",
            )
    return {port: names[port] for port in sorted(names)}
