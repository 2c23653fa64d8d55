# SPDX-License-Identifier: Apache-2.0
"""Where a switch may be reached without TLS: on this machine, decided when it is dialled."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import grpc
import pytest

from clarion_contract import pipeline
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.plaintext import local_target
from clarion_p4rt.session import Session


def found(*hosts: str) -> Any:
    """A name server that knows these addresses of any name."""

    async def resolve(_: object, host: str, port: str, **options: object) -> list[tuple[Any, ...]]:
        families = [socket.AF_INET6 if ":" in each else socket.AF_INET for each in hosts]
        return [(family, 1, 6, "", (each, int(port))) for family, each in zip(families, hosts, strict=True)]

    return resolve


@pytest.mark.parametrize(
    ("address", "resolved", "target"),
    [
        ("127.0.0.1:9559", (), "127.0.0.1:9559"),
        ("127.1.2.3:9559", (), "127.1.2.3:9559"),
        ("[::1]:9559", (), "[::1]:9559"),
        ("localhost:9559", (), "localhost:9559"),
        ("unix:/run/clarion/p4runtime.sock", (), "unix:/run/clarion/p4runtime.sock"),
        ("10.0.0.2:9559", (), None),
        ("0.0.0.0:9559", (), None),
        ("[fe80::1%eth0]:9559", (), None),
        ("[::ffff:10.0.0.2]:9559", (), None),
        ("lab:9559", ("127.0.1.1",), "ipv4:127.0.1.1:9559"),
        ("lab:9559", ("::1",), "ipv6:[::1]:9559"),
        ("lab:9559", ("127.0.0.1", "10.0.0.2"), None),
        ("lab:9559", ("10.0.0.2",), None),
    ],
)
async def test_only_what_stays_on_this_machine_is_dialled(
    monkeypatch: pytest.MonkeyPatch, address: str, resolved: tuple[str, ...], target: str | None
) -> None:
    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", found(*resolved))
    assert await local_target(address) == target


async def test_a_session_dials_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    dialled: list[str] = []
    insecure_channel = grpc.aio.insecure_channel

    def noted(target: str, **options: Any) -> Any:
        dialled.append(target)
        return insecure_channel(target, **options)

    monkeypatch.setattr(grpc.aio, "insecure_channel", noted)
    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", found("192.0.2.7"))
    with pytest.raises(SwitchError, match="lab:9559 is not this machine, and there is no TLS"):
        await Session("s1", "lab:9559", 1, pipeline.load()).connect()
    assert dialled == []
    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", found("127.0.0.9"))
    session = Session("s1", "lab:9559", 1, pipeline.load())
    await session.connect()
    await session.close()
    session = Session("s1", "192.0.2.7:9559", 1, pipeline.load(), insecure=True)
    await session.connect()
    await session.close()
    assert dialled == ["ipv4:127.0.0.9:9559", "192.0.2.7:9559"]
