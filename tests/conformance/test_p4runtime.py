# SPDX-License-Identifier: Apache-2.0
"""Each check of the list on each server; what a server is known to do instead is asserted exactly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.p4runtime import differences
from conformance.p4runtime.checks import CHECKS, Check, Deviation
from conformance.p4runtime.deviations import DEVIATIONS
from conformance.p4runtime.listed import LISTED
from conformance.p4runtime.servers import SERVERS, Server


@pytest.fixture(scope="module", params=SERVERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    kind = SERVERS[name]
    if (fault := kind.fault()) is not None:
        pytest.skip(fault)
    made = kind(tmp_path_factory.mktemp(name), len(LISTED))
    yield made
    made.stop()


@pytest.mark.parametrize("check", LISTED, ids=lambda check: f"{check.section}-{check.id}")
def test_section(name: str, server: Server, check: Check) -> None:
    known = DEVIATIONS[name].get(check.id)
    with server.lab(silent=known is not None) as lab:
        try:
            check.run(lab)
            found = None
        except Deviation as deviation:
            found = str(deviation)
    assert found == (known.found if known else None), check.sentence


@pytest.mark.parametrize("name", differences.tables())
def test_the_document_has_the_tables(name: str) -> None:
    made = differences.tables()[name]
    assert differences.in_document(name, differences.DOCUMENT.read_text()) == made, differences.__doc__


def test_deviations_are_of_checks_in_the_list() -> None:
    assert {check for known in DEVIATIONS.values() for check in known} <= CHECKS.keys()
