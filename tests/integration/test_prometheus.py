# SPDX-License-Identifier: Apache-2.0
"""A Prometheus that scrapes a controller: it takes our configuration and rules, and answers the dashboard."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from clarion_base.paths import ROOT
from clarion_switch.client import Client
from fakes.ports import free_port
from integration.controller_net import Embedded, Process, ServedController, create_token, running
from integration.waiting import wait_until
from unit.test_observe import queries, rules

PROMETHEUS = shutil.which("prometheus")
pytestmark = pytest.mark.skipif(PROMETHEUS is None, reason="prometheus is not installed")
FOLDER = ROOT / "observe" / "prometheus"
FRAME = bytes(100).hex()
MAY_BE_EMPTY = {"Bit error rate"}  # without a policy of the tuner


@contextlib.contextmanager
def scraping(controller: ServedController, directory: Path) -> Iterator[httpx.Client]:
    """Prometheus with our configuration, but for where the controller is, and faster."""
    token = directory / "token"
    token.write_text(create_token(controller.store, "prometheus", "viewer"))
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    del job["tls_config"]
    job |= {"scheme": "http", "authorization": {"credentials_file": str(token)}}
    job["static_configs"] = [{"targets": [controller.url.removeprefix("http://").rstrip("/")]}]
    config["global"] = {"scrape_interval": "250ms", "evaluation_interval": "250ms"}
    config["rule_files"] = [str(FOLDER / "alerts.yml")]
    (directory / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    command = [
        str(PROMETHEUS), f"--config.file={directory / 'prometheus.yml'}", f"--web.listen-address={address}",
        f"--storage.tsdb.path={directory / 'data'}", "--log.level=warn",
    ]  # fmt: skip
    server = Process(command, directory / "prometheus.log")
    try:
        with httpx.Client(base_url=f"http://{address}/api/v1/", timeout=10.0) as client:
            yield client
    finally:
        server.stop()


def answered(client: httpx.Client, path: str, **parameters: str) -> Any:
    try:
        answer = client.get(path, params=parameters)
    except httpx.TransportError:  # not there yet
        return None
    return answer.json()["data"] if answer.status_code == 200 else None


def test_prometheus_answers_every_query_of_the_dashboard(tmp_path: Path) -> None:
    side = Embedded(tmp_path, watched=True, xcp=True)
    with running(side), ServedController(tmp_path) as controller, controller.api() as api:
        api.add("s1", side.address, 1)
        api.await_sync("s1")
        with scraping(controller, tmp_path) as client, contextlib.closing(Client(side.control)) as switch:
            for title, query in queries():

                def found(title: str = title, query: str = query) -> bool:
                    switch.ask("inject", switch="s1", port=1, frame=FRAME)  # intervals end as frames come
                    data = answered(client, "query", query=query)
                    return data is not None and (bool(data["result"]) or title in MAY_BE_EMPTY)

                wait_until(found, f"{title}: {query}", 60.0)
            loaded = answered(client, "rules")["groups"][0]["rules"]
            assert {rule["name"] for rule in loaded} == {rule["alert"] for rule in rules()}
            assert [rule["name"] for rule in loaded if rule["health"] == "err"] == []
