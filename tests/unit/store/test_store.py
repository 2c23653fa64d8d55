# SPDX-License-Identifier: Apache-2.0
"""The store: schema and migrations, transactions, expiry; on PostgreSQL in test_controller_postgres."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import fields, replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import OperationalError

from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.errors import FullError, NotFoundError, StoreError
from clarion_control.model import Action, Actor, Drop, Interval, PolicyState, Role
from clarion_control.store import (
    Store,
    audit,
    decisions,
    desired_state,
    policies,
    schema,
    switches,
    telemetry,
    tokens,
)
from clarion_control.store.clock import now_us
from clarion_control.tuner.registry import POLICIES
from clarion_p4rt.switch import Switch
from fakes.controller import open_store
from fakes.switch import DROP, REPORT

ANN = Actor("ann", Role.ADMIN)
DEADLINE_S = 30.0
SWITCH = Switch(0, "s1", "127.0.0.1:9559", 1, (1, 2))
NAMED = replace(SWITCH, port_names={1: "right", 2: "h1"})


async def test_the_migrations_make_the_schema(tmp_path: Path) -> None:
    def differences(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), schema.metadata))

    async with open_store(tmp_path) as store:
        assert await store.read(differences) == []


async def test_a_database_of_the_first_release_keeps_its_reports(tmp_path: Path) -> None:
    def first_release(connection: Connection) -> None:
        later = [("intervals", "measured_bps"), ("switches", "port_names")]
        later += [("experiments", name) for name in ("place", "progress", "heard_us", "stop_us")]
        for table, column in later:
            connection.execute(text(f"ALTER TABLE {table} DROP COLUMN {column}"))
        for table in ("summaries", "controllers"):
            connection.execute(text(f"DROP TABLE {table}"))
        connection.execute(text("DROP INDEX audit_action"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))

    async with open_store(tmp_path) as store:
        switch = await store.change(switches.add, ANN, SWITCH)
        await store.append(telemetry.append, [(switch.uid, Interval(1, "s1", REPORT))], [])
        await store.change(first_release)
    async with open_store(tmp_path) as store:
        measured = REPORT._replace(intervals=2, measured_bps=40_000_000)
        await store.append(telemetry.append, [(switch.uid, Interval(2, "s1", measured))], [])
        found = await store.read(telemetry.interval_list, switch, REPORT.port, 0, 10, 10)
        assert [each.report for each in found] == [REPORT, measured]


async def test_opening_again_keeps_everything(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        added = await store.change(switches.add, ANN, NAMED)
        assert added.port_names == NAMED.port_names
    async with open_store(tmp_path) as store:
        assert await store.read(switches.listed) == [added]


async def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    def age(connection: Connection) -> None:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    async with open_store(tmp_path) as store:
        await store.change(age)
    with pytest.raises(StoreError, match="is of a newer Clarion"):
        async with open_store(tmp_path):
            pass


async def test_what_waits_for_a_database_that_does_not_answer_fails_with_it(tmp_path: Path) -> None:
    began, answers = threading.Event(), threading.Event()
    asked = 0

    def hang(_: Connection) -> None:
        nonlocal asked
        asked += 1
        began.set()
        assert answers.wait(DEADLINE_S)
        raise OperationalError("SELECT 1", None, Exception("no answer"))

    async with open_store(tmp_path) as store:
        first = asyncio.create_task(store.change(hang))
        await asyncio.to_thread(began.wait, DEADLINE_S)
        others = [asyncio.create_task(store.change(hang)) for _ in range(5)]
        await asyncio.sleep(0)  # they are in the queue now
        answers.set()
        for each in (first, *others):
            with pytest.raises(StoreError, match="no answer"):
                await each
        assert asked == 1
        assert await store.change(audit.last_id) == 0  # asked afterwards: it is tried


async def test_a_change_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def half(connection: Connection, switch: Switch) -> None:
        desired_state.change_port(connection, ANN, switch, 1, lambda _: PortSettings(1, stamp=True))
        raise NotFoundError("switch", "s9")

    async with open_store(tmp_path) as store:
        switch = await store.change(switches.add, ANN, SWITCH)
        with pytest.raises(NotFoundError):
            await store.change(half, switch)
        assert (await store.read(desired_state.load, switch)).ports == {}
        assert [each.action for each in await store.read(audit.listed, None, None, None, 9)] == ["switch.add"]


async def test_changes_at_once_are_one_after_the_other(tmp_path: Path) -> None:
    def raised(settings: PortSettings) -> PortSettings:
        limit = (settings.queue_limit_bytes or 0) + 1
        return replace(settings, queue_limit_bytes=limit)

    async with open_store(tmp_path) as one, open_store(tmp_path) as other:
        switch = await one.change(switches.add, ANN, SWITCH)
        await asyncio.gather(
            *(store.change(desired_state.change_port, ANN, switch, 1, raised) for store in [one, other] * 10)
        )
        port = (await one.read(desired_state.load, switch)).ports[1]
        assert (port.version, port.settings.queue_limit_bytes) == (20, 20)


async def test_a_change_of_a_switch_that_was_removed(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        switch = await store.change(switches.add, ANN, SWITCH)
        await store.change(desired_state.change_port, ANN, switch, 1, lambda _: PortSettings(1, stamp=True))
        await store.change(switches.remove, ANN, "s1")
        again = await store.change(switches.add, ANN, SWITCH)
        assert again.uid > switch.uid
        assert (await store.read(desired_state.load, again)).ports == {}
        with pytest.raises(NotFoundError):
            await store.change(
                desired_state.change_port, ANN, switch, 1, lambda _: PortSettings(1, stamp=True)
            )


async def test_settings_come_back_as_they_were(tmp_path: Path) -> None:
    wanted = PortSettings(
        1, XcpSettings(8, 0.1 + 0.2, 0.127, 1e-4, 1, 16_000_000), True, True, True, True, 2**40 - 1
    )
    async with open_store(tmp_path) as store:
        switch = await store.change(switches.add, ANN, SWITCH)
        await store.change(desired_state.change_port, ANN, switch, 1, lambda _: wanted)
        assert (await store.read(desired_state.load, switch)).ports[1].settings == wanted


async def test_telemetry_comes_back_and_expires(tmp_path: Path) -> None:
    def some(time_us: int, count: int) -> list[tuple[int, Interval]]:
        reports = [REPORT._replace(intervals=number, lost_on_wire=2**64 - 1) for number in range(count)]
        return [(switch.uid, Interval(time_us + each.intervals, "s1", each)) for each in reports]

    span = (1, 0, 2**62, 10_000)
    async with open_store(tmp_path) as store:
        switch = await store.change(switches.add, ANN, SWITCH)
        drop = Drop(1_000_000, "s1", DROP)
        await store.append(telemetry.append, some(1_000_000, 30), [(switch.uid, drop)])
        await store.append(telemetry.append, some(9_000_000, 2), [])
        found = await store.read(telemetry.interval_list, switch, *span)
        assert [each.time_us for each in found] == [*range(1_000_000, 1_000_030), 9_000_000, 9_000_001]
        assert found[0].report == REPORT._replace(intervals=0, lost_on_wire=2**63 - 1)
        assert await store.read(telemetry.drop_list, switch, None, 0, 2**62, 9) == [drop]
        sums = await store.read(telemetry.interval_summaries, switch, 1, 0, 2**62, 1_000_000, 9)
        assert [(each.start_us, each.reports) for each in sums] == [(1_000_000, 30), (9_000_000, 2)]
        while await store.append(telemetry.expire, 9_000_000):
            pass
        assert len(await store.read(telemetry.interval_list, switch, *span)) == 2
        assert await store.read(telemetry.drop_list, switch, 1, 0, 2**62, 9) == []


async def test_what_people_changed_does_not_expire(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.change(switches.add, ANN, SWITCH)
        assert await store.append(decisions.expire, now_us() + 1) == 0
        assert await store.read(audit.last_id) == 1


async def test_records_of_access_expire_and_those_of_changes_do_not(tmp_path: Path) -> None:
    fail = (Actor("unknown", Role.VIEWER), Action.SESSION_FAIL, {"source": "192.0.2.1", "count": 3})
    async with open_store(tmp_path) as store:
        await store.change(switches.add, ANN, SWITCH)
        await store.append(audit.record_access, [fail, fail])
        assert await store.append(audit.expire_access, 0) == 0
        assert await store.append(audit.expire_access, now_us() + 1) == 2
        assert await store.append(audit.expire_access, now_us() + 1) == 0
        (left,) = await store.read(audit.listed, None, None, None, 10)
        assert left.action == "switch.add"


async def test_changes_of_tokens_are_seen_in_the_audit(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        seen, _ = await store.read(tokens.valid)
        await store.change(switches.add, ANN, SWITCH)
        seen, changed = await store.read(tokens.changed_since, seen)
        assert not changed
        token, _ = await store.change(tokens.create, ANN, "grafana", Role.VIEWER)
        seen, changed = await store.read(tokens.changed_since, seen)
        assert changed
        assert await store.read(tokens.changed_since, seen) == (seen, False)
        await store.change(tokens.revoke, ANN, token.id)
        assert (await store.read(tokens.changed_since, seen))[1]
        assert (await store.read(tokens.changed_since, 10**6))[1]  # an older copy was put in place


async def test_there_is_an_end_to_valid_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_VALID", 2)
    async with open_store(tmp_path) as store:
        first, _ = await store.change(tokens.create, ANN, "one", Role.VIEWER)
        await store.change(tokens.create, ANN, "two", Role.VIEWER)
        with pytest.raises(FullError, match="revoke those"):
            await store.change(tokens.create, ANN, "three", Role.VIEWER)
        await store.change(tokens.revoke, ANN, first.id)
        await store.change(tokens.create, ANN, "three", Role.VIEWER)


async def test_a_token_lives_for_ninety_days_unless_it_is_given_another_end(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        began_us = now_us()
        token, _ = await store.change(tokens.create, ANN, "default", Role.VIEWER)
        assert token.expires_us is not None
        assert began_us <= token.expires_us - 90 * 86_400_000_000 <= now_us()
        for_ever, _ = await store.change(tokens.create, ANN, "ever", Role.VIEWER, None)
        assert for_ever.expires_us is None


async def test_tokens_are_kept_as_digests(tmp_path: Path) -> None:
    def rows(connection: Connection) -> str:
        return str(connection.execute(select(schema.tokens)).all())

    def expire(connection: Connection) -> None:
        old = schema.tokens.c.name == "old"
        connection.execute(schema.tokens.update().where(old).values(expires_us=now_us()))

    async with open_store(tmp_path) as store:
        token, secret = await store.change(tokens.create, ANN, "grafana", Role.VIEWER)
        assert tokens.FORM.fullmatch(secret)
        _, known = await store.read(tokens.valid)
        assert known == [(tokens.digest(secret), token)]
        assert secret not in await store.read(rows)
        assert await store.read(tokens.count_valid) == 1
        _, gone = await store.change(tokens.create, ANN, "old", Role.ADMIN, now_us() + 10**12)
        assert await store.read(tokens.count_valid) == 2
        await store.change(expire)
        assert tokens.digest(gone) not in dict((await store.read(tokens.valid))[1])
        assert await store.read(tokens.count_valid) == 1


async def test_the_file_is_nobody_elses_business(tmp_path: Path) -> None:
    async with open_store(tmp_path):
        assert (tmp_path / "controller.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "where",
    [
        "mysql://x@y/z",
        "nonsense://",
        "postgresql://u@/db?host=/nowhere",
        "postgresql://u@host:port/db",
        "postgresql+asyncpg://u@host/db",
        "sqlite+nonsense:///x",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_a_store_that_cannot_be(where: str) -> None:
    with pytest.raises(StoreError, match=r"^store"):
        Store.open(where)


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        Store.open(str(tmp_path))


def test_a_file_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("no database at all, and long enough to be taken for one " * 20)
    with pytest.raises(StoreError, match="not a database"):
        Store.open(str(tmp_path / "x.db"))


def test_the_password_is_not_shown() -> None:
    with pytest.raises(StoreError) as caught:
        Store.open("postgresql://u:secret@127.0.0.1:1/db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", [field.name for field in fields(XcpSettings) if field.name != "beta"])
async def test_a_change_by_hand_holds_the_policies_that_govern_the_field(tmp_path: Path, name: str) -> None:
    before = XcpSettings(100_000_000)
    after = replace(before, **{name: getattr(before, name) * 2})
    async with open_store(tmp_path) as store:
        switch = await store.change(switches.add, ANN, SWITCH)
        first = PortSettings(1, xcp=before)
        await store.change(desired_state.change_port, ANN, switch, 1, lambda _: first)
        for policy in POLICIES:
            await store.change(policies.put, ANN, switch, 1, policy, PolicyState.ACTIVE, {})
        second = PortSettings(1, xcp=after, stamp=True)
        await store.change(desired_state.change_port, ANN, switch, 1, lambda _: second)
        found = {policy.name: policy for policy in await store.read(policies.listed, switch)}
    held = {each for each, policy in found.items() if policy.state is PolicyState.HELD}
    assert held == {spec.name for spec in POLICIES.values() if f"xcp.{name}" in spec.governs}
    assert {found[each].reason for each in held} <= {f"ann set {name} by hand"}
