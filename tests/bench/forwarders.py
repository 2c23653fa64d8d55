# SPDX-License-Identifier: Apache-2.0
"""The switches whose ceilings are compared, between the same two devices and with the same settings.

Port 1 is an edge port with the sequence check. Port 2 is the measured one: XCP, stamping and sequence
checks, a queue limit in bytes that is never reached, and no rate, so that only the switch itself is a
bottleneck.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from finsy import P4Schema

from bench.packet_source import CAPACITY_BPS
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_lab.engines.bmv2 import devices
from clarion_lab.engines.bmv2.control import ControlPlane, SwitchPlan
from clarion_lab.engines.bmv2.process import Bmv2Process
from clarion_lab.engines.bmv2.runtime import Runtime
from clarion_lab.engines.switch_process import SwitchProcess
from clarion_lab.machine.state import RunState
from clarion_p4rt.p4_device import P4Device
from clarion_p4rt.switch import Switch

PORTS = {1: "bench-p1", 2: "bench-p2"}
ADDRESSES = {"02:00:00:00:00:01": 1, "02:00:00:00:00:02": 2}
QUEUE_BYTES = 1 << 30
DEVICE_ID = 1
L2_SOURCE = Path(__file__).with_name("l2.p4")
COMPILER = "p4c-bm2-ss"

Program = Callable[[Bmv2Process], ControlPlane | None]


@contextmanager
def embedded(state: RunState, directory: Path) -> Iterator[int]:
    """clarion-switch; yields its process id."""
    tag = {"stamp": True, "check": True}
    xcp = {"enabled": True, "capacity_bps": CAPACITY_BPS}
    ports = [
        {"name": "p1", "netdev": PORTS[1], "wire": "declared", "tag": {"check": True, "edge": True}},
        {
            "name": "p2",
            "netdev": PORTS[2],
            "wire": "declared",
            "xcp": xcp,
            "tag": tag,
            "queue_bytes": QUEUE_BYTES,
        },
    ]
    process = SwitchProcess(state, {"switches": [{"name": "s1", "ports": ports}]}, directory)
    try:
        process.start()
        yield process.pid
    finally:
        process.stop()


@contextmanager
def bmv2(state: RunState, directory: Path, program: Program) -> Iterator[int]:
    """simple_switch_grpc with a program; yields its process id."""
    process = Bmv2Process(state, "bench", DEVICE_ID, directory)
    control: ControlPlane | None = None
    try:
        devices.prepare(PORTS.values())
        process.spawn(PORTS)
        process.await_ready()
        control = program(process)
        runtime = Runtime("bench", process.thrift_port)
        runtime.shape([])  # no rates, and queues deeper than the traffic in flight
        runtime.close()
        yield process.pid
    finally:
        if control is not None:
            control.stop()
        process.stop()


def clarion_program(process: Bmv2Process, generation: int) -> ControlPlane:
    """The P4 program, under the controller that runs use; its reports are taken as they come."""
    xcp = XcpSettings(CAPACITY_BPS, generation=generation)
    settings = [
        PortSettings(1, check=True, edge=True, wire=True),
        PortSettings(2, xcp, stamp=True, check=True, wire=True, queue_limit_bytes=QUEUE_BYTES),
    ]
    control = ControlPlane()
    control.start({_address(process): SwitchPlan("bench", DEVICE_ID, settings, ADDRESSES)})
    return control


def l2_program(folder: Path) -> Program:
    """The program that only forwards, compiled into a folder."""
    info, program = folder / "l2.p4info.txtpb", folder / "l2.json"
    command = [COMPILER, "--p4runtime-files", str(info), "-o", str(program), str(L2_SOURCE)]
    subprocess.run(command, check=True)
    schema = P4Schema(info, program.read_bytes())

    async def load(address: str) -> None:
        device = P4Device(Switch(0, "bench", address, DEVICE_ID, tuple(PORTS)), schema, election_id=1)
        try:
            await device.open()
            await device.prepare()
        finally:
            await device.close()

    return lambda process: asyncio.run(load(_address(process)))


def l2_can_be_compiled() -> bool:
    """Whether p4c is installed."""
    return shutil.which(COMPILER) is not None


def _address(process: Bmv2Process) -> str:
    return f"127.0.0.1:{process.grpc_port}"
