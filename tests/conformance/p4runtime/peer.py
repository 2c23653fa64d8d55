# SPDX-License-Identifier: Apache-2.0
"""A P4Runtime client of bare messages, which says in a word how a server answered."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import grpc
from finsy.proto import U128, p4r, p4r_grpc, rpc_status

from conformance.p4runtime.checks import wants
from fakes.p4runtime_messages import p4info
from integration.agent_net import DEADLINE_S

T = TypeVar("T")
Set = p4r.SetForwardingPipelineConfigRequest
CODES = {code.value[0]: code.name for code in grpc.StatusCode}
OK = "OK"
SILENCE = "nothing"
COOKIE = 7
KINDS = [each.name for each in p4r.StreamMessageResponse.DESCRIPTOR.oneofs_by_name["update"].fields]


def refused(*codes: str) -> str:
    """The outcome of a batch of which at least one item was refused: the code of each item."""
    return f"UNKNOWN [{', '.join(codes)}]"


def outcome(error: grpc.RpcError) -> str:
    """The code of a failed call, with those of a batch's items."""
    code: str = error.code().name
    found = [CODES[each.canonical_code] for each in errors(error)]
    return f"{code} [{', '.join(found)}]" if found else code


def errors(error: grpc.RpcError) -> list[p4r.Error]:
    """The errors of a batch's items."""
    found = []
    for packed in status(error).details:
        found.append(p4r.Error())
        assert packed.Unpack(found[-1])
    return found


def status(error: grpc.RpcError) -> rpc_status.Status:
    """The google.rpc.Status that comes with a failed call; empty if none does."""
    trailing: Any = dict(error.trailing_metadata() or ())  # type: ignore[arg-type]
    found: rpc_status.Status = rpc_status.Status.FromString(trailing.get("grpc-status-details-bin", b""))
    return found


class Peer:
    """A controller with at most one stream for one device. What calls return is an outcome: OK or a code."""

    def __init__(
        self, address: str, device_id: int, role: str, patience_s: float, device_config: bytes
    ) -> None:
        self.device_id, self.role = device_id, role
        self.election_id: int | None = None
        self.error: grpc.RpcError | None = None  # of the last call that failed
        self._patience_s, self._device_config = patience_s, device_config
        options = [("grpc.max_metadata_size", 1 << 20), ("grpc.max_receive_message_length", 64 << 20)]
        self._channel = grpc.insecure_channel(address, options)
        self._stub: Any = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.Queue[p4r.StreamMessageRequest | None] = queue.Queue()
        self._received: dict[str, queue.Queue[Any]] = {kind: queue.Queue() for kind in KINDS}
        self._call: Any = None
        self._reader: threading.Thread | None = None

    def close(self) -> None:
        """Ends stream and connection."""
        if self._reader is not None:
            self._requests.put(None)
            self._call.cancel()
            self._reader.join(DEADLINE_S)
            self._reader = None
        self._channel.close()

    # The stream.

    def send(self, request: p4r.StreamMessageRequest) -> None:
        """Sends a message on the stream, opening it if need be."""
        if self._reader is None:
            self._call = self._stub.StreamChannel(iter(self._requests.get, None))
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()
        self._requests.put(request)

    def next(self, kind: str) -> Any:
        """The next message of a kind. None if there comes none in time, or the stream ends."""
        waiting = self._received[kind]
        try:
            message = waiting.get(timeout=self._patience_s)
        except queue.Empty:
            return None
        if isinstance(message, p4r.StreamMessageResponse):
            return getattr(message, kind)
        waiting.put(message)  # it stays ended
        self.error = message
        return None

    def notice(self) -> str:
        """The next word of the server on who is primary, or how it ends the stream."""
        self.error = None
        told = self.next("arbitration")
        if told is not None:
            self.told = told
            return CODES[told.status.code]
        return f"ends the stream with {outcome(self.error)}" if self.error else SILENCE

    def arbitrate(self, election_id: int | None, **fields: Any) -> str:
        """Sends a MasterArbitrationUpdate. The outcome is the code of the notice that answers (`told`)."""
        update = p4r.MasterArbitrationUpdate(device_id=fields.get("device_id", self.device_id))
        if election_id is not None:
            update.election_id.CopyFrom(U128.encode(election_id))
        self.election_id = election_id
        role = fields.get("role", self.role)
        if role:
            update.role.name = role
        if "config" in fields:
            update.role.config.CopyFrom(fields["config"])
        self.send(p4r.StreamMessageRequest(arbitration=update))
        return self.notice()

    def so_far(self, kind: str) -> list[Any]:
        """The messages of a kind that come before the answer to an update that raises its election id."""
        assert self.arbitrate((self.election_id or 0) + 1) in (OK, "ALREADY_EXISTS", "NOT_FOUND")
        found = []
        while not self._received[kind].empty():
            found.append(self.next(kind))
        return found

    def notices_so_far(self) -> list[p4r.MasterArbitrationUpdate]:
        """The primary's notices before the answer to an update that raises its election id."""
        assert self.election_id is not None
        raised = self.election_id + 1
        result, found = self.arbitrate(raised), []
        while U128.decode(self.told.election_id) != raised:
            assert result != SILENCE
            found.append(self.told)
            result = self.notice()
        return found

    # Calls.

    def write(self, *updates: p4r.Update, atomicity: int = 0, **fields: Any) -> str:
        """A Write."""
        return self._try(
            lambda: self._stub.Write(
                self._named(p4r.WriteRequest, fields, updates=updates, atomicity=atomicity),
                timeout=DEADLINE_S,
            )
        )[0]

    def read(self, *entities: p4r.Entity, **fields: Any) -> tuple[str, list[p4r.Entity]]:
        """The outcome of a Read and what came before its end."""
        request = p4r.ReadRequest(device_id=fields.get("device_id", self.device_id), entities=entities)
        request.role = self.role
        found: list[p4r.Entity] = []

        def collect() -> None:
            for reply in self._stub.Read(request, timeout=DEADLINE_S):
                found.extend(reply.entities)

        return self._try(collect)[0], found

    def entries(self, entity: p4r.Entity) -> list[p4r.Entity]:
        """What a Read finds that should not fail."""
        result, found = self.read(entity)
        wants(result, OK)
        return found

    def set_pipeline(self, action: int = Set.VERIFY_AND_COMMIT, **fields: Any) -> str:
        """SetForwardingPipelineConfig with the program's config, `config` or (None) none."""
        request = self._named(p4r.SetForwardingPipelineConfigRequest, fields, action=action)
        config = fields.get("config", self.config(fields.get("cookie", COOKIE)))
        if config is not None:
            request.config.CopyFrom(config)
        return self._try(lambda: self._stub.SetForwardingPipelineConfig(request, timeout=DEADLINE_S))[0]

    def config(self, cookie: int | None = COOKIE) -> p4r.ForwardingPipelineConfig:
        """The program's config."""
        made = p4r.ForwardingPipelineConfig(p4info=p4info(), p4_device_config=self._device_config)
        if cookie is not None:
            made.cookie.cookie = cookie
        return made

    def get_pipeline(
        self, kind: int = 0, **fields: Any
    ) -> tuple[str, p4r.GetForwardingPipelineConfigResponse]:
        """The outcome of GetForwardingPipelineConfig and its reply."""
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=fields.get("device_id", self.device_id),
            response_type=kind,  # type: ignore[arg-type]
        )
        result, reply = self._try(lambda: self._stub.GetForwardingPipelineConfig(request, timeout=DEADLINE_S))
        return result, reply or p4r.GetForwardingPipelineConfigResponse()

    def capabilities(self, device_id: int = 0) -> tuple[str, p4r.CapabilitiesResponse]:
        """The outcome of Capabilities and its reply."""
        request = p4r.CapabilitiesRequest(device_id=device_id)
        result, reply = self._try(lambda: self._stub.Capabilities(request, timeout=DEADLINE_S))
        return result, reply or p4r.CapabilitiesResponse()

    def _named(self, message: Callable[..., T], fields: dict[str, Any], **more: Any) -> T:
        """A request that says who sends it."""
        election_id = fields.get("election_id", self.election_id)
        return message(
            device_id=fields.get("device_id", self.device_id),
            role=fields.get("role", self.role),
            election_id=None if election_id is None else U128.encode(election_id),
            **more,
        )

    def _try(self, call: Callable[[], T]) -> tuple[str, T | None]:
        try:
            return OK, call()
        except grpc.RpcError as error:
            self.error = error
            return outcome(error), None

    def _read(self) -> None:
        ended: grpc.RpcError | None = None
        try:
            for message in self._call:
                self._received[message.WhichOneof("update")].put(message)
        except grpc.RpcError as error:
            ended = error
        for waiting in self._received.values():
            waiting.put(ended)


class Lab:
    """A device that no controller has spoken to yet, and its controllers."""

    absent_device_id = 999

    def __init__(
        self,
        address: str,
        devices: Sequence[int],
        patience_s: float,
        device_config: bytes = b"any",
    ) -> None:
        """`devices`: ids; most checks need the first only. `patience_s`: how long a message may take."""
        self.devices = devices
        self._address, self._patience_s, self._device_config = address, patience_s, device_config
        self._peers = ExitStack()

    def close(self) -> None:
        """Closes all controllers."""
        self._peers.close()

    def peer(self, role: str = "", device_id: int | None = None) -> Peer:
        """A controller that has not said anything yet."""
        made = Peer(self._address, device_id or self.devices[0], role, self._patience_s, self._device_config)
        self._peers.callback(made.close)
        return made

    def backup(self, election_id: int | None = None) -> Peer:
        """A controller that is not primary."""
        made = self.peer()
        notice = made.arbitrate(election_id)
        assert notice in ("ALREADY_EXISTS", "NOT_FOUND"), notice
        return made

    def bare_primary(self, election_id: int = 9) -> Peer:
        """The primary, before it has set a pipeline."""
        made = self.peer()
        notice = made.arbitrate(election_id)
        assert notice == OK, notice
        return made

    def primary(self, election_id: int = 9) -> Peer:
        """The primary of a device with a pipeline and no entries."""
        made = self.bare_primary(election_id)
        result = made.set_pipeline()
        assert result == OK, result
        return made
