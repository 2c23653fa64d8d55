# SPDX-License-Identifier: Apache-2.0
"""Alert rules and dashboard: what promtool says of them, and whether the controller has their figures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from clarion_base.paths import ROOT
from clarion_control.api.metrics import exposition
from fakes.controller import open_controller
from fakes.switch import FakeSwitch

FOLDER = ROOT / "observe" / "prometheus"
DASHBOARD = json.loads((ROOT / "observe" / "grafana" / "clarion.json").read_text())
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")


def rules() -> list[dict[str, Any]]:
    document = yaml.safe_load((FOLDER / "alerts.yml").read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


def queries() -> Iterator[tuple[str, str]]:
    """The dashboard's queries by the titles of their panels, as Prometheus gets them."""
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            query = target["expr"].replace("$__rate_interval", "1m")
            yield panel["title"], re.sub(r"\$(switch|port)\b", ".*", query)


def names(query: str) -> set[str]:
    return set(re.findall(r"\bclarion_\w+", query))


def promtool(*arguments: str, cwd: Path = FOLDER) -> subprocess.CompletedProcess[str]:
    command = [str(PROMTOOL), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=cwd)


async def test_the_controller_has_every_figure_that_is_asked_for(tmp_path: Path) -> None:
    async with open_controller(tmp_path, FakeSwitch("s1", (1,))) as controller:
        text = exposition(controller, None, "")[0].decode()
    has = {"clarion_wire_bit_error_rate"}  # of the tuner
    for family in text_string_to_metric_families(text):
        has |= {family.name, f"{family.name}_total"} if family.type == "counter" else {family.name}
    asked = set().union(*(names(rule["expr"]) for rule in rules()), *(names(query) for _, query in queries()))
    assert len(asked) > 10
    assert asked <= has


@needs_promtool
def test_rules_and_configuration_are_valid() -> None:
    for arguments in (
        ("check", "rules", "alerts.yml"),
        ("check", "config", "--syntax-only", "prometheus.yml"),
    ):
        done = promtool(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_each_alert_fires_when_it_should() -> None:
    document = yaml.safe_load((FOLDER / "alerts.test.yml").read_text())
    tried = {
        case["alertname"]
        for test in document["tests"]
        for case in test["alert_rule_test"]
        if case["exp_alerts"]
    }
    assert tried == {rule["alert"] for rule in rules()}
    done = promtool("test", "rules", "alerts.test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_the_queries_of_the_dashboard_can_be_read(tmp_path: Path) -> None:
    recorded = [{"record": f"query:{number}", "expr": query} for number, (_, query) in enumerate(queries())]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "q", "rules": recorded}]}))
    done = promtool("check", "rules", "rules.yml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_panels_lie_side_by_side_and_have_titles_of_their_own() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
