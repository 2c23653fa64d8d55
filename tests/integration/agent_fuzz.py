# SPDX-License-Identifier: Apache-2.0
"""Malformed and out-of-order P4Runtime messages, from a seed: the same seed makes the same messages.

python -m integration.agent_fuzz --messages 100000 [--seed 1]      (from tests/)
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import grpc
from finsy.proto import U128, p4r

from clarion_agent.roles import P4RoleConfig
from fakes.p4runtime_messages import IDS, p4info, table_entry
from integration.agent_net import DEADLINE_S, Client, SwitchProcess, details, switch_and_agent

VALUES = (b"", b"\0", b"\1", b"\2", b"\3", b"\xff", b"\1\0", b"\xff" * 5, b"\0" * 9, b"\xff" * 16)
NUMBERS = (0, 1, 2, 3, 63, 64, 255, 4096, 262143, 262144, 2**31 - 1, 2**32 - 1)
EXPECTED = (
    "OK",
    "FAILED_PRECONDITION",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "UNIMPLEMENTED",
)
PATIENCE = 20  # requests that are denied before we become primary again
MUTATIONS = 3  # most changed bytes in a corrupted message


class Generator:
    """Messages of all kinds: meaningful ones, slightly wrong ones, noise."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._ids = list(IDS.values())
        self._p4info = p4info()

    def pick(self, *choices: Any) -> Any:
        """A random choice."""
        return self._random.choice(choices)

    def write(self, election_id: int) -> bytes:
        """A WriteRequest; serialised, because some cannot be built."""
        request = p4r.WriteRequest(device_id=self._device(), atomicity=self.pick(0, 0, 0, 1, 2, 7))
        self._claim(request, election_id)
        for _ in range(self.pick(0, 1, 1, 2, 5)):
            update = request.updates.add(type=self.pick(0, 1, 1, 1, 2, 2, 3, 9))
            if self._random.random() < 0.95:
                update.entity.CopyFrom(self.entity())
        return self._corrupted(request)

    def read(self) -> bytes:
        """A ReadRequest. Whole bucket arrays are left out: they are valid, but slow to read."""
        request = p4r.ReadRequest(device_id=self._device())
        for _ in range(self.pick(0, 1, 1, 2)):
            entity = self.entity()
            if entity.WhichOneof("entity") == "register_entry":
                entity.register_entry.index.index = self.pick(-1, *NUMBERS[:8])
            request.entities.append(entity)
        return bytes(request.SerializeToString())

    def pipeline(self, election_id: int) -> bytes:
        """A SetForwardingPipelineConfigRequest that does not delete all entries."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self._device(), action=self.pick(0, 1, 2, 4, 5, 9)
        )
        self._claim(request, election_id)
        if self._random.random() < 0.8:
            request.config.cookie.cookie = self._random.getrandbits(64)
            if self._random.random() < 0.5:
                request.config.p4info.CopyFrom(self._p4info)
            if self._random.random() < 0.3:
                request.config.p4info.tables.add(size=self._random.getrandbits(32))
        return self._corrupted(request)

    def stream(self, election_id: int) -> p4r.StreamMessageRequest:
        """A message on the stream."""
        message = p4r.StreamMessageRequest()
        kind = self.pick("arbitration", "packet", "digest_ack", "other", "nothing")
        if kind == "arbitration":
            message.arbitration.device_id = self._device()
            if self._random.random() < 0.8:
                message.arbitration.election_id.CopyFrom(self._election_id(election_id))
            if self._random.random() < 0.2:
                message.arbitration.role.name = self.pick("", "a", "\N{SNOWMAN}" * 9)
                message.arbitration.role.id = self.pick(0, 0, 1)
            if self._random.random() < 0.3:
                self._configure(message.arbitration.role)
        elif kind == "packet":
            message.packet.payload = self._random.randbytes(self.pick(0, 1, 13, 14, 60, 1940, 1941, 9000))
            if self._random.random() < 0.2:
                message.packet.metadata.add(metadata_id=self.pick(*NUMBERS), value=self.pick(*VALUES))
        elif kind == "digest_ack":
            message.digest_ack.digest_id = self.pick(*self._ids, *NUMBERS)
            message.digest_ack.list_id = self.pick(*NUMBERS)
        elif kind == "other":
            message.other.type_url = "type.googleapis.com/none"
        return message

    def _configure(self, role: p4r.Role) -> None:
        """A role's configuration, or something else."""
        config = P4RoleConfig(
            exclusive_p4_ids=[self.pick(*self._ids, *NUMBERS) for _ in range(self.pick(0, 1, 2))],
            shared_p4_ids=[self.pick(*self._ids, *NUMBERS) for _ in range(self.pick(0, 1, 2))],
            receives_packet_ins=self.pick(False, True),
            can_push_pipeline=self.pick(False, True),
        )
        if self._random.random() < 0.3:
            config.packet_in_filter.metadata_id = self.pick(*NUMBERS)
            config.packet_in_filter.value = self.pick(*VALUES)
        role.config.Pack(config)
        role.config.value = self._corrupted(config)
        if self._random.random() < 0.1:
            role.config.type_url = "x"

    def entity(self) -> p4r.Entity:
        """Any entity."""
        entity = p4r.Entity()
        kind = self.pick(
            "table", "table", "table", "table", "counter", "register", "digest", "group", "clone", "none"
        )
        if kind == "table":
            entity.table_entry.CopyFrom(self._table_entry())
        elif kind == "counter":
            entity.counter_entry.counter_id = self.pick(IDS["tx"], IDS["malformed"], *NUMBERS)
            entity.counter_entry.index.index = self.pick(-1, *NUMBERS[:8])
            if self._random.random() < 0.7:
                entity.counter_entry.data.packet_count = self.pick(-1, 0, 5, 2**63 - 1)
        elif kind == "register":
            entity.register_entry.register_id = self.pick(*self._ids, 0)
            entity.register_entry.index.index = self.pick(-1, *NUMBERS)
            if self._random.random() < 0.8:
                entity.register_entry.data.bitstring = self.pick(*VALUES)
            else:
                entity.register_entry.data.bool = True
        elif kind == "digest":
            entity.digest_entry.digest_id = self.pick(IDS["queue_drop_t"], *self._ids, *NUMBERS)
            entity.digest_entry.config.max_list_size = self.pick(-1, 0, 1, 2**31 - 1)
            entity.digest_entry.config.max_timeout_ns = self.pick(-1, 0, 1, 2**63 - 1)
            entity.digest_entry.config.ack_timeout_ns = self.pick(-1, 0, 1, 2**63 - 1)
        elif kind == "group":
            group = entity.packet_replication_engine_entry.multicast_group_entry
            group.multicast_group_id = self.pick(1, 1, *NUMBERS)
            for _ in range(self.pick(0, 1, 2)):
                replica = group.replicas.add(instance=self.pick(*NUMBERS))
                if self._random.random() < 0.5:
                    replica.egress_port = self.pick(257, 258, 319, *NUMBERS)
                else:
                    replica.port = self.pick(b"\1\1", *VALUES)
                for _ in range(self.pick(0, 0, 1, 2)):
                    port = self.pick(b"\1\2", b"\1\3", *VALUES)
                    replica.backup_replicas.add(port=port, instance=self.pick(*NUMBERS))
        elif kind == "clone":
            entity.packet_replication_engine_entry.clone_session_entry.session_id = self.pick(*NUMBERS)
        elif self._random.random() < 0.5:
            entity.direct_counter_entry.table_entry.CopyFrom(self._table_entry())
        else:
            entity.meter_entry.meter_id = self.pick(*NUMBERS)
        return entity

    def _table_entry(self) -> p4r.TableEntry:
        tables = ("tag_port", "xcp_port", "stamp_port", "queue_port", "l2_forward", "clock")
        actions = ("set_tag_port", "set_xcp_port", "stamp", "set_queue_port", "forward", "set_clock")
        table = self._random.randrange(len(tables))
        action = table if self._random.random() < 0.9 else self._random.randrange(len(actions))
        counts = (3, 7, 0, 1, 1, 2)
        arguments = [self.pick(0, 1, 1, 2, 3, 255, 1000) for _ in range(counts[action])]
        entity = table_entry(tables[table], self.pick(0, 1, 2, 3, 9, 300), actions[action], arguments)
        entry = entity.table_entry
        roll = self._random.random()
        if roll < 0.05:
            entry.table_id = self.pick(*self._ids, *NUMBERS)
        elif roll < 0.10:
            entry.match.add(field_id=self.pick(*NUMBERS)).exact.value = self.pick(*VALUES)
        elif roll < 0.15:
            del entry.match[:]
        elif roll < 0.20:
            entry.match[0].ternary.value = self.pick(*VALUES)
        elif roll < 0.25:
            entry.ClearField("action")
        elif roll < 0.30:
            entry.action.action_profile_member_id = 1
        elif roll < 0.35 and entry.action.action.params:
            entry.action.action.params[0].value = self.pick(*VALUES)
        elif roll < 0.40:
            entry.is_default_action = True
        elif roll < 0.45:
            entry.priority = self.pick(-1, 1, 2**31 - 1)
        elif roll < 0.50:
            entry.metadata = self.pick(*VALUES)
            entry.controller_metadata = self.pick(0, 1, 2**64 - 1)
        elif roll < 0.52:
            entry.is_const = True
        return entry

    def _device(self) -> int:
        return int(self.pick(1, 1, 1, 1, 1, 1, 1, 1, 0, 2, 99, 2**64 - 1))

    def _election_id(self, right: int) -> p4r.Uint128:
        return U128.encode(self.pick(right, right, right, right, right, 0, right + 1, right + 2**64))

    def _claim(self, request: Any, election_id: int) -> None:
        roll = self._random.random()
        if roll < 0.9:
            request.election_id.CopyFrom(U128.encode(election_id))
        elif roll < 0.95:
            request.election_id.CopyFrom(self._election_id(election_id))
        if self._random.random() < 0.05:
            request.role = self.pick("a", "\N{SNOWMAN}")

    def _corrupted(self, message: Any) -> bytes:
        data = bytearray(message.SerializeToString())
        if data and self._random.random() < 0.1:
            for _ in range(self._random.randint(1, MUTATIONS)):
                data[self._random.randrange(len(data))] = self._random.randrange(256)
        return bytes(data)


class Attack:
    """Sends messages and checks that refused ones change nothing."""

    def __init__(self, switch: SwitchProcess, address: str, seed: int) -> None:
        self.outcomes: Counter[str] = Counter()
        self._switch = switch
        self._address = address
        self._generator = Generator(seed)
        self._random = random.Random(~seed)
        self._election_id = 1
        self._denied = 0
        self._written = False  # whether the last refused Write says that it has written something
        self._channel = grpc.insecure_channel(address)
        service = "/p4.v1.P4Runtime/"
        self._write: Any = self._channel.unary_unary(service + "Write")
        self._read: Any = self._channel.unary_stream(service + "Read")
        self._set: Any = self._channel.unary_unary(service + "SetForwardingPipelineConfig")
        self._client = self._primary()

    def close(self) -> None:
        """Ends the connections."""
        self._client.close()
        self._channel.close()

    def run(self, messages: int) -> None:
        """Sends a number of messages."""
        for _ in range(messages):
            kind = self._random.choice(("write",) * 6 + ("read", "pipeline", "stream", "stream"))
            getattr(self, f"_{kind}_once")()
            if self._denied > PATIENCE:
                self._client = self._replaced()

    def still_serves(self) -> None:
        """A valid write succeeds and can be read back."""
        self._client = self._replaced()
        entity = table_entry("queue_port", 3, "set_queue_port", (4321,))
        self._client.set_pipeline()
        self._client.write(p4r.Update(type=p4r.Update.INSERT, entity=entity))
        assert len(self._client.read(table_entry("", None))) == 1
        assert self._switch.entries()["ports"][2]["queue_limit"] == 4321

    def _write_once(self) -> None:
        """One that continues after errors changes what it says it has written, and nothing else."""
        message = self._generator.write(self._election_id)
        before = self._state()
        self._written = False
        if self._call(lambda: self._write(message, timeout=DEADLINE_S), "write") == "OK" or self._written:
            return
        assert self._state() == before, f"a refused write changed something: {message.hex()}"

    def _read_once(self) -> None:
        message = self._generator.read()
        self._call(lambda: list(self._read(message, timeout=DEADLINE_S)), "read")

    def _pipeline_once(self) -> None:
        message = self._generator.pipeline(self._election_id)
        before = self._state()
        if self._call(lambda: self._set(message, timeout=DEADLINE_S), "pipeline") != "OK":
            assert self._state() == before

    def _stream_once(self) -> None:
        """Sends on the primary's stream, or on a new one, possibly with the wrong kind of message first."""
        message = self._generator.stream(self._election_id)
        if self._random.random() < 0.9 and message.WhichOneof("update") != "arbitration":
            self._client.send(message)
            self.outcomes["stream sent"] += 1
            return
        with Client(self._address) as other:
            other.send(message)
            other.send(self._generator.stream(self._election_id))
            self.outcomes["stream opened"] += 1

    def _call(self, call: Any, kind: str) -> str:
        try:
            call()
            outcome = "OK"
        except grpc.RpcError as error:
            outcome = error.code().name
            if outcome == "UNKNOWN":  # it says what is wrong with each update or request
                self._written = any(code == "OK" for code, _ in details(error))
        self.outcomes[f"{kind} {outcome}"] += 1
        self._denied += outcome == "PERMISSION_DENIED"
        assert outcome in EXPECTED or (kind, outcome) in (("write", "UNKNOWN"), ("read", "UNKNOWN")), (
            f"{kind}: {outcome}"
        )
        return outcome

    def _state(self) -> Any:
        """The switch's entries, and registers that frames without a Clarion header do not change."""
        ask = self._switch.ask
        arrays = (("wire_lost", 0), ("queue_lost", 0), ("link_numbers", 4096), ("queue_slots", 4096))
        cells = [
            ask(cmd="registers", switch="s1", register=name, first=first, count=64) for name, first in arrays
        ]
        return self._switch.entries(), cells

    def _primary(self) -> Client:
        client = Client(self._address)
        self._election_id = max(self._election_id, U128.decode(client.arbitrate(None).election_id)) + 1
        return client.primary(self._election_id)

    def _replaced(self) -> Client:
        """Takes mastership back on a new stream, with an election id above all others."""
        self._denied = 0
        self._client.close()
        return self._primary()


def main() -> None:
    """Runs the fuzzer and prints the outcomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, switch_and_agent(Path(directory)) as (switch, agent):
        attack = Attack(switch, agent.address, options.seed)
        attack.run(options.messages)
        attack.still_serves()
        attack.close()
        rss_kib = next(
            line.split()[1]
            for line in Path(f"/proc/{agent.process.pid}/status").read_text().splitlines()
            if line.startswith("VmRSS")
        )
    print(f"{options.messages} messages, seed {options.seed}, {time.monotonic() - start:.0f} s: no crash, no")
    print(f"half-applied batch; the agent still serves and holds {int(rss_kib) / 1024:.0f} MiB")
    for outcome, count in sorted(attack.outcomes.items()):
        print(f"  {outcome:28} {count}")


if __name__ == "__main__":
    main()
