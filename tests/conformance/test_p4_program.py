# SPDX-License-Identifier: Apache-2.0
"""The committed P4 program against its source, its public names and ids, and its page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clarion_contract.words import WORDS
from conformance import p4_player
from conformance.bmv2.digests import member_names
from conformance.bmv2.switch import Recirculated, Switch
from conformance.p4_player import P4Player
from conformance.test_vectors import FILES, assert_expected
from conformance.traffic import Traffic
from conformance.vectors import event_of, load

ROOT = Path(__file__).resolve().parents[2]
P4 = ROOT / "p4"
PAGE = (ROOT / "docs" / "p4.md").read_text()
PROGRAM = json.loads((P4 / "clarion.json").read_text())
INFO = (P4 / "clarion.p4info.txtpb").read_text()

# The public names and their numbers. A number is never reused.
IDS = {
    "tables": {
        "tag_port": 0x02000001,
        "l2_forward": 0x02000002,
        "clock": 0x02000003,
        "xcp_port": 0x02000004,
        "stamp_port": 0x02000005,
        "queue_port": 0x02000006,
        "wire_judged": 0x02000007,
    },
    "actions": {
        "set_tag_port": 0x01000001,
        "forward": 0x01000002,
        "flood": 0x01000003,
        "set_clock": 0x01000004,
        "set_xcp_port": 0x01000005,
        "stamp": 0x01000006,
        "set_queue_port": 0x01000007,
        "prove": 0x01000008,
        "disprove": 0x01000009,
        "NoAction": 0x01445B37,  # the compiler's
    },
    "counters": {
        "malformed": 0x12000001,
        "wire_late": 0x12000002,
        "wire_rebased": 0x12000003,
        "queue_late": 0x12000004,
        "queue_rebased": 0x12000005,
        "tx": 0x12000006,
        "queue_drops": 0x12000007,
        "rx": 0x12000008,
    },
    "digests": {"interval_report_t": 0x174A5CDF, "queue_drop_t": 0x17F63D64},  # from their names
    "controller_packet_metadata": {"packet_in": 0x04CEF263, "packet_out": 0x047D6909},  # likewise
}


def blocks(kind: str) -> list[str]:
    """Return the text of every top-level message of one kind."""
    return re.findall(rf"^{kind} \{{\n(.*?)^\}}", INFO, re.MULTILINE | re.DOTALL)


def ids_of(kind: str) -> dict[str, int]:
    found = {}
    for block in blocks(kind):
        number, name = re.search(r"id: (\d+)", block), re.search(r'alias: "(\w+)"', block)
        assert number is not None
        assert name is not None
        found[name[1]] = int(number[1])
    return found


@pytest.mark.parametrize("kind", IDS)
def test_numbers_are_the_pinned_ones(kind: str) -> None:
    assert ids_of(kind) == IDS[kind]


RETIRED_REGISTERS = range(0x16000006, 0x16000017)  # the members of what are words now


def test_register_numbers_are_pinned_and_in_order() -> None:
    numbers = sorted([*ids_of("registers").values(), *RETIRED_REGISTERS])
    assert numbers == list(range(0x16000001, 0x16000001 + len(numbers)))


def test_the_words_are_as_wide_as_their_members_and_the_slices_of_the_source_name_them() -> None:
    source = (P4 / "xcp_state.p4").read_text()
    slices = {
        name: (int(high), int(low)) for name, high, low in re.findall(r"#define (\w+) (\d+):(\d+)", source)
    }
    widths = {array["name"]: array["bitwidth"] for array in PROGRAM["register_arrays"]}
    for word, members in WORDS.items():
        assert widths[word] == sum(members.values())
        end = widths[word]
        for name, width in members.items():
            assert slices[name.upper()] == (end - 1, end - width), name
            end -= width


def test_keys_have_names_and_tables_have_sizes() -> None:
    keys = {}
    for block in blocks("tables"):
        name = re.search(r'alias: "(\w+)"', block)
        size = re.search(r"^  size: (\d+)", block, re.MULTILINE)
        assert name is not None
        assert size is not None
        keys[name[1]] = (re.findall(r'match_fields \{\n    id: 1\n    name: "(\w+)"', block), int(size[1]))
    per_port = (["port"], 64)
    assert keys.pop("l2_forward") == (["dst_addr"], 4096)
    assert keys.pop("clock")[0] == []
    assert set(map(str, keys.values())) == {str(per_port)}


def test_the_page_has_every_table_digest_counter_and_register() -> None:
    names = [name for kind in (*IDS, "registers") for name in ids_of(kind)]
    assert [name for name in names if name != "NoAction" and not re.search(rf"`{name}\b", PAGE)] == []


@pytest.mark.parametrize("digest", IDS["digests"])
def test_the_page_has_every_member_with_its_width(digest: str) -> None:
    struct = re.search(rf'key: "{digest}"(.*?)\n  \}}', INFO, re.DOTALL)
    assert struct
    widths = re.findall(r"bitwidth: (\d+)", struct[1])
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{digest}`"))
    documented = re.findall(r"`(\w+)` (\d+)", row.split("|")[3])
    assert documented == list(zip(member_names()[digest], widths, strict=True))


def test_registers_have_the_sizes_of_the_page() -> None:
    registers = PAGE[PAGE.index("| registers |") :]
    for array in PROGRAM["register_arrays"]:
        row = next(line for line in registers.splitlines() if f"`{array['name']}`" in line)
        cells, bits = (re.findall(r"\d+", cell) for cell in row.split("|")[2:4])
        assert array["bitwidth"] == int(bits[0]), array["name"]
        assert array["size"] == int(cells[0]) * int(cells[1] if len(cells) > 1 else 1), array["name"]


def test_the_page_counts_what_the_script_counts() -> None:
    counted = subprocess.run(
        [sys.executable, P4 / "resources.py"], capture_output=True, text=True, check=True
    )
    begin, end = "<!-- p4/resources.py -->\n", "<!-- end of p4/resources.py -->"
    assert PAGE[PAGE.index(begin) + len(begin) : PAGE.index(end)] == counted.stdout


def operators(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["op"]} if "op" in node and "left" in node else set()
        return own.union(*(operators(value) for value in node.values()))
    return set().union(*(operators(value) for value in node)) if isinstance(node, list) else set()


def test_nothing_divides() -> None:
    used = operators(PROGRAM)
    assert {"+", "*", ">>", "<"} <= used
    assert not used & {"/", "%"}


class Watched(list[int]):
    """The cells of a register array; `seen` has an r for every read and a w for every write."""

    seen = ""

    def __getitem__(self, index: Any) -> Any:
        self.seen += "r" if isinstance(index, int) else ""
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.seen += "w" if isinstance(index, int) else ""
        super().__setitem__(index, value)


class WatchedSwitch(Switch):
    """Records the reads and writes of every packet, in ingress and in egress."""

    def _compile(self, program: Any) -> None:
        self.cells = {name: Watched() for name in self.registers}
        self.registers.update(self.cells)
        self.passes: dict[str, list[dict[str, str]]] = {"ingress": [], "egress": []}
        super()._compile(program)

    def ingress(self, port: int, frame: bytes, timestamp_us: int) -> Any:
        return self._watch("ingress", lambda: super(WatchedSwitch, self).ingress(port, frame, timestamp_us))

    def ingress_again(self, packet: Recirculated, timestamp_us: int) -> Any:
        return self._watch("ingress", lambda: super(WatchedSwitch, self).ingress_again(packet, timestamp_us))

    def egress(self, *arguments: Any, **options: Any) -> Any:
        return self._watch("egress", lambda: super(WatchedSwitch, self).egress(*arguments, **options))

    def _watch(self, half: str, step: Callable[[], Any]) -> Any:
        for cells in self.cells.values():
            cells.seen = ""
        left = step()
        self.passes[half].append({name: cells.seen for name, cells in self.cells.items() if cells.seen})
        return left


def test_arrays_are_accessed_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(p4_player, "Switch", WatchedSwitch)
    player = P4Player()
    for seed in range(3):
        player.play(Traffic(seed, hairpin=False).batch(2000))
    assert isinstance(player.switch, WatchedSwitch)
    passes = player.switch.passes
    most = {(half, ends): 0 for half in passes for ends in (False, True)}
    for half, packets in passes.items():
        for packet in packets:
            key = half, "w" in packet.get("interval_clock", "")  # a window or an interval starts or ends
            accesses = (len(re.findall("r+w*|w+", seen)) for seen in packet.values())
            most[key] = max(most[key], *accesses, 0)
    assert (most["ingress", False], most["egress", False], most["egress", True]) == (1, 1, 0)
    assert most["ingress", True] <= 3
    row = next(line for line in PAGE.splitlines() if line.startswith("| arrays used in ingress and egress"))
    used = {half: {name for packet in packets for name in packet} for half, packets in passes.items()}
    assert set(re.findall(r"`(\w+)`", row)) == used["ingress"] & used["egress"]


def test_every_division_starts_from_the_one_table() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "core/tables.py", "json"], capture_output=True, text=True, check=True
    )
    expected = [[i, int(entry)] for i, entry in enumerate(json.loads(made.stdout))]
    tables = [table for pipeline in PROGRAM["pipelines"] for table in pipeline["tables"]]
    found = [
        [
            [int(e["match_key"][0]["key"], 16), int(e["action_entry"]["action_data"][0], 16)]
            for e in t["entries"]
        ]
        for t in tables
        if t["name"].endswith("reciprocals")
    ]
    assert found == [expected] * 10


def test_committed_table_is_the_generated_one() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "core/tables.py", "p4"], capture_output=True, text=True, check=True
    )
    assert (P4 / "reciprocal_table.p4").read_text() == made.stdout


@pytest.fixture(scope="module")
def recompiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("p4c-bm2-ss") is None:
        pytest.skip("p4c-bm2-ss is not on PATH")
    folder = tmp_path_factory.mktemp("p4")
    done = subprocess.run([P4 / "build.py", "--into", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_committed_interface_is_what_the_source_gives(recompiled: Path) -> None:
    assert (recompiled / "clarion.p4info.txtpb").read_text() == INFO


def test_the_committed_program_is_what_the_source_gives(recompiled: Path) -> None:
    # Releases of p4c name their temporary fields differently; the compiled program must behave the same.
    program = recompiled / "clarion.json"
    if program.read_text() == (P4 / "clarion.json").read_text():
        return
    version = subprocess.run(["p4c-bm2-ss", "--version"], capture_output=True, text=True, check=True).stdout
    assert "1.2.5.16" not in version, "p4/clarion.json is out of date: run `make p4`"
    player = P4Player(program)
    for path in FILES:
        lines = load(path)
        assert_expected(lines, player.play([event_of(line) for line in lines]))
