# SPDX-License-Identifier: Apache-2.0
"""clarion-switch and the agent in front of it as processes, without devices, and a bare P4Runtime client."""

from __future__ import annotations

import json
import os
import queue
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
from finsy.proto import U128, p4r, p4r_grpc, rpc_status

from clarion_base.paths import ROOT
from fakes.p4runtime_messages import p4info

SWITCH = Path(os.environ.get("CLARION_SWITCH_BIN", ROOT / "build/cpp/switch/clarion-switch"))
DEADLINE_S = 30.0
MAC = 0x020000000002

# s1 has ports 1 to 3, each wired to a switch with no other port, which drops the frames. LLDP is off: a wire
# that it proves is read as an entry too, from the first hello on, and tests count the entries.
DOCUMENT: dict[str, Any] = {
    "lldp": False,
    "switches": [
        {
            "name": "s1",
            "ports": [
                {"name": "a", "peer": "s2:a"},
                {"name": "b", "peer": "s3:a", "rate_bps": 8_000_000, "queue_bytes": 3000},
                {"name": "c", "peer": "s4:a"},
            ],
        },
        {"name": "s2", "ports": [{"name": "a", "peer": "s1:a"}]},
        {"name": "s3", "ports": [{"name": "a", "peer": "s1:b"}]},
        {"name": "s4", "ports": [{"name": "a", "peer": "s1:c"}]},
    ],
}

Json = dict[str, Any]


def until(condition: Callable[[], Any], what: str) -> Any:
    """Polls until the condition holds; returns its value."""
    end = time.monotonic() + DEADLINE_S
    while not (value := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return value


def first_line(process: subprocess.Popen[bytes]) -> str:
    """The first line that a process prints; its error output if it prints none."""
    assert process.stdout is not None
    assert process.stderr is not None
    if not select.select([process.stdout], [], [], DEADLINE_S)[0]:
        process.kill()
        raise AssertionError("nothing printed")
    line = process.stdout.readline().decode()
    if not line:
        raise AssertionError(process.stderr.read().decode())
    return line


def end(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
    """Ends a process; returns its exit code and error output."""
    if process.poll() is None:
        process.send_signal(how)
    try:
        errors = process.communicate(timeout=DEADLINE_S)[1].decode()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, errors


def json_file(directory: Path, document: Json) -> Path:
    """A configuration of clarion-switch."""
    path = directory / "switch.json"
    path.write_text(json.dumps(document))
    return path


class SwitchProcess:
    """A clarion-switch, or a program that takes the same options, with a control socket."""

    def __init__(
        self,
        directory: Path,
        document: Json | None = None,
        program: Path | None = SWITCH,
        options: Sequence[str] = (),
    ) -> None:
        self.control = directory / "control.sock"
        self._program = program
        self._options = options
        self._config = json_file(directory, document or DOCUMENT)
        self.start()

    def start(self) -> None:
        """Starts the process, or restarts it after it has ended."""
        command = [str(self._program), "--config", str(self._config), "--control", str(self.control)]
        command += self._options
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert first_line(self.process) == "ready\n"

    def ask(self, **command: Any) -> Json:
        """Sends one command on a new connection; returns the reply."""
        with socket.socket(socket.AF_UNIX) as made:
            made.settimeout(DEADLINE_S)
            made.connect(str(self.control))
            made.sendall(json.dumps(command).encode() + b"\n")
            with made.makefile() as replies:
                reply: Json = json.loads(replies.readline())
        return reply

    def entries(self, switch: str = "s1") -> Json:
        """The switch's own list of its entries, without the agent's note."""
        found = self.ask(cmd="entries", switch=switch)
        del found["note"]
        found["addresses"].sort()
        return found

    def kill(self) -> None:
        """kill -9, as in a crash."""
        end(self.process, signal.SIGKILL)


class AgentProcess:
    """`clarion switch serve`."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "clarion", "switch", "serve", "--listen", "127.0.0.1:0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.line = first_line(self.process)
        except BaseException:
            self.process.kill()
            self.process.communicate()
            raise
        found = re.match(r"serving P4Runtime on (\S+) \(devices (.*)\)$", self.line)
        assert found, self.line
        self.address = found[1]


@contextmanager
def switch_and_agent(
    directory: Path, *options: str, document: Json | None = None
) -> Iterator[tuple[SwitchProcess, AgentProcess]]:
    """clarion-switch and the agent, as separate processes; the agent must end cleanly."""
    switch = SwitchProcess(directory, document)
    try:
        agent = AgentProcess("--control", str(switch.control), *options)
        try:
            yield switch, agent
        finally:
            code, errors = end(agent.process)
        assert code == 0, errors
        assert "Traceback" not in errors, errors
    finally:
        end(switch.process)


class Client:
    """A bare P4Runtime client with one stream."""

    def __init__(self, address: str, device_id: int = 1, credentials: Any = None) -> None:
        self.device_id = device_id
        self._channel = (
            grpc.secure_channel(address, credentials) if credentials else grpc.insecure_channel(address)
        )
        self.stub: Any = p4r_grpc.P4RuntimeStub(self._channel)
        self.election_id = 0
        self.role = ""
        self._requests: queue.Queue[p4r.StreamMessageRequest | None] = queue.Queue()
        self.received: queue.Queue[p4r.StreamMessageResponse | grpc.RpcError | None] = queue.Queue()
        self._call = self.stub.StreamChannel(iter(self._requests.get, None))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the stream and the connection."""
        self._requests.put(None)
        self._call.cancel()
        self._reader.join(DEADLINE_S)
        self._channel.close()

    def send(self, request: p4r.StreamMessageRequest) -> None:
        """Sends one message on the stream."""
        self._requests.put(request)

    def next(self, kind: str) -> Any:
        """The next message of a kind, skipping others; "end": the status that ends the stream."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            message = self.received.get(timeout=max(0.1, deadline - time.monotonic()))
            if isinstance(message, p4r.StreamMessageResponse):
                if message.WhichOneof("update") == kind:
                    return getattr(message, kind)
            elif kind == "end":
                return message
            else:
                raise AssertionError(f"the stream ended: {message}")

    def arbitrate(self, election_id: int | None, role: str = "") -> Any:
        """Sends a MasterArbitrationUpdate; returns the reply."""
        update = p4r.MasterArbitrationUpdate(device_id=self.device_id)
        if election_id is not None:
            update.election_id.CopyFrom(U128.encode(election_id))
            self.election_id = election_id
        if role:
            update.role.name = self.role = role
        self.send(p4r.StreamMessageRequest(arbitration=update))
        return self.next("arbitration")

    def set_pipeline(self, action: int = 3, cookie: int | None = 7, **fields: Any) -> None:
        """SetForwardingPipelineConfig with our own P4Info."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            role=self.role,
            election_id=U128.encode(self.election_id),
            action=action,  # type: ignore[arg-type]
        )
        request.config.p4info.CopyFrom(fields.get("p4info") or p4info())
        request.config.p4_device_config = b"device"
        if cookie is not None:
            request.config.cookie.cookie = cookie
        self.stub.SetForwardingPipelineConfig(request, timeout=DEADLINE_S)

    def write(self, *updates: p4r.Update, atomicity: int = 0) -> None:
        """One Write."""
        request = p4r.WriteRequest(
            device_id=self.device_id,
            role=self.role,
            election_id=U128.encode(self.election_id),
            updates=updates,
            atomicity=atomicity,  # type: ignore[arg-type]
        )
        self.stub.Write(request, timeout=DEADLINE_S)

    def read(self, *entities: p4r.Entity) -> list[p4r.Entity]:
        """All entities of the reply."""
        request = p4r.ReadRequest(device_id=self.device_id, entities=entities)
        return [entity for reply in self.stub.Read(request, timeout=DEADLINE_S) for entity in reply.entities]

    def primary(self, election_id: int = 1) -> Client:
        """Becomes primary and sets the pipeline."""
        assert self.arbitrate(election_id).status.code == 0
        self.set_pipeline()
        return self

    def _read(self) -> None:
        try:
            for message in self._call:
                self.received.put(message)
            self.received.put(None)
        except grpc.RpcError as error:
            self.received.put(error)


def details(error: grpc.RpcError) -> list[tuple[str, str]]:
    """Code and message of each update of a refused Write."""
    trailing: Any = dict(error.trailing_metadata() or ())  # type: ignore[arg-type]
    status = rpc_status.Status.FromString(trailing["grpc-status-details-bin"])
    found = []
    for packed in status.details:
        detail = p4r.Error()
        assert packed.Unpack(detail)
        codes = {code.value[0]: code.name for code in grpc.StatusCode}
        found.append((codes[detail.canonical_code], detail.message))
    return found


def ethernet(to: int, length: int = 500) -> bytes:
    """A frame of the experimental type."""
    return to.to_bytes(6, "big") + bytes.fromhex("020000000001") + b"\x88\xb5" + bytes(length - 14)
