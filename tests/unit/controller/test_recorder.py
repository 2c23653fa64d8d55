# SPDX-License-Identifier: Apache-2.0
"""The thread that stores reports: order, what is lost and counted, a store that is away. On PostgreSQL in
test_controller_postgres.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clarion_control.errors import StoreError
from clarion_control.fleet import recorder
from clarion_control.fleet.recorder import Recorder
from clarion_control.model import Drop, Interval
from clarion_control.store import Store, telemetry
from clarion_control.store.clock import now_us
from clarion_p4rt.switch import Switch
from fakes.controller import open_store, until
from fakes.switch import DROP, REPORT

SWITCH = Switch(7, "s1", "127.0.0.1:9559", 1, (1, 2))
NOW_US = now_us()


def intervals(first: int, count: int, **fields: Any) -> list[Interval | Drop]:
    """Reports with consecutive numbers of intervals."""
    return [
        Interval(NOW_US + number, "s1", REPORT._replace(intervals=number, **fields))
        for number in range(first, first + count)
    ]


async def stored(store: Store) -> list[int]:
    """The numbers of the stored reports, in the order of their rows."""
    found = await store.read(telemetry.interval_list, SWITCH, REPORT.port, 0, 2 * NOW_US, 100_000)
    return [each.report.intervals for each in found]


async def test_all_reports_are_stored_in_their_order(tmp_path: Path) -> None:
    """In more than one batch, the last of them by `close`."""
    count = 2 * recorder.BATCH + 345
    async with open_store(tmp_path) as store:
        keeper = Recorder(store, 3600)
        keeper.start()
        keeper.add(SWITCH.uid, intervals(0, 1500))
        await until(lambda: keeper.waiting == 0)
        keeper.add(SWITCH.uid, [*intervals(1500, count - 1500), Drop(NOW_US, "s1", DROP)])
        await keeper.close()
        assert await stored(store) == list(range(count))
        drops = await store.read(telemetry.drop_list, SWITCH, None, 0, 2 * NOW_US, 9)
        assert [each.report for each in drops] == [DROP]
        assert (keeper.waiting, keeper.lost) == (0, 0)


async def test_what_has_no_room_is_lost_and_counted(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        keeper = Recorder(store, 3600)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recorder, "MAX_WAITING", 5)
            keeper.add(SWITCH.uid, intervals(0, 4))
            keeper.add(SWITCH.uid, intervals(4, 4))
            keeper.add(SWITCH.uid, intervals(8, 1))
        assert (keeper.waiting, keeper.lost) == (5, 4)
        keeper.start()
        await keeper.close()
        assert await stored(store) == [0, 1, 2, 3, 4]
        assert (keeper.waiting, keeper.lost) == (0, 4)


async def test_a_report_that_no_database_holds_takes_no_other_along(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        keeper = Recorder(store, 3600)
        keeper.start()
        keeper.add(SWITCH.uid, [*intervals(0, 2), *intervals(2, 1, input_bytes=2**70), *intervals(3, 2)])
        await keeper.close()
        assert await stored(store) == [0, 1, 3, 4]
        assert (keeper.waiting, keeper.lost) == (0, 1)


async def test_a_store_that_is_away_gets_everything_once_it_is_back(tmp_path: Path) -> None:
    tries = 0

    def away(*_: object) -> None:
        nonlocal tries
        tries += 1
        raise StoreError("store: away")

    async with open_store(tmp_path) as store:
        keeper = Recorder(store, 3600)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "append_now", away)
            keeper.start()
            keeper.add(SWITCH.uid, intervals(0, 1200))
            await until(lambda: tries >= 2)
            keeper.add(SWITCH.uid, intervals(1200, 3))
        await until(lambda: keeper.waiting == 0)
        await keeper.close()
        assert await stored(store) == list(range(1203))
        assert keeper.lost == 0


async def test_a_change_does_not_wait_for_all_reports(tmp_path: Path) -> None:
    """It is through while reports still wait: one batch at a time holds the database."""
    async with open_store(tmp_path) as store:
        keeper = Recorder(store, 3600)
        keeper.add(SWITCH.uid, intervals(0, 50 * recorder.BATCH))
        keeper.start()
        await until(lambda: 0 < keeper.waiting < 50 * recorder.BATCH)
        await store.change(lambda _: None)
        assert keeper.waiting > 0
        await keeper.close()
        assert keeper.lost == 0
