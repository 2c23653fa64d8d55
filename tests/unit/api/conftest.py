# SPDX-License-Identifier: Apache-2.0
"""The rig of the API's tests: a new one for each test, or one for all tests of a file that change nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from fakes.rest import Rig, open_rig


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rig]:
    """For tests with `@pytest.mark.asyncio(loop_scope="module")`."""
    async with open_rig(tmp_path_factory.mktemp("rig")) as made:
        yield made
