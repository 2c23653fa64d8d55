# SPDX-License-Identifier: Apache-2.0
"""Runs that were started elsewhere, on a command line, and report by themselves: to be seen beside the
controller's own, while they run and afterwards.

A run that is killed cannot say so: one that was not heard for a while is lost.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.errors import FieldError
from clarion_control.experiments.files import ResultFile
from clarion_control.experiments.library import settings_texts
from clarion_control.model import Actor, Experiment, ExperimentState
from clarion_control.store.clock import now_us

SILENT_S = 30.0  # a run says something every few seconds
WATCH_S = 5.0
MAX_SETTING_CHARACTERS = 10_000

_log = logging.getLogger(__name__)


class Reported:
    """Registers runs, hears them, and loses those that fall silent."""

    def __init__(
        self,
        controller: Controller,
        summary_file: str,
        tell: Callable[[], None],
        *,
        silent_s: float = SILENT_S,
        watch_s: float = WATCH_S,
    ) -> None:
        """`tell` is called after every change; the summary goes by the name `summary_file`."""
        self._records = controller.records
        self._summary_file = summary_file
        self._tell = tell
        self._silent_s = silent_s
        self._watch_s = watch_s

    async def register(
        self,
        actor: Actor,
        scenario: str,
        engine: str,
        settings: Mapping[str, Any],
        repeat: int,
        place: str,
    ) -> Experiment:
        """A run has begun whose files are at `place`, HOST:DIRECTORY; FieldError for a setting too long."""
        texts = settings_texts(settings)
        for key, text in zip(settings, texts, strict=True):
            if len(text) > MAX_SETTING_CHARACTERS:
                raise FieldError(f"settings.{key}", f"is longer than {MAX_SETTING_CHARACTERS} characters")
        made = await self._records.register_run(actor, scenario, engine, texts, repeat, place)
        self._tell()
        return made

    async def hear(self, actor: Actor, experiment_id: int, progress: str | None) -> Experiment:
        """The run goes on, and says what it is doing; RunError if it has ended, or is another token's."""
        found = await self._records.hear_run(actor, experiment_id, progress)
        self._tell()
        return found

    async def finish(
        self,
        actor: Actor,
        experiment_id: int,
        state: ExperimentState,
        error: str | None,
        summary: Mapping[str, Any] | None,
    ) -> Experiment:
        """The run has ended; RunError as above. Said twice, it is as said once."""
        files = [self._summary_file] if summary is not None else []
        found = await self._records.finish_run(actor, experiment_id, state, error, summary, files)
        self._tell()
        return found

    async def stop(self, experiment_id: int) -> Experiment:
        """The run learns that it is to stop when it reports next."""
        found = await self._records.ask_run_to_stop(experiment_id)
        self._tell()
        return found

    async def files(self, experiment_id: int) -> list[ResultFile]:
        """The summary, if it has left one: all other files are where it ran."""
        content = await self.content(experiment_id, self._summary_file)
        return [] if content is None else [ResultFile(self._summary_file, len(content))]

    async def content(self, experiment_id: int, path: str) -> bytes | None:
        """What is in a file; None if there is none of that name."""
        if path != self._summary_file:
            return None
        summary = await self._records.run_summary(experiment_id)
        return None if summary is None else json.dumps(summary, indent=1).encode()

    async def watch(self) -> None:
        """Loses runs that have fallen silent, until it is cancelled. Silence counts from the start of this
        controller, too: while there was none, nobody could be heard.
        """
        await asyncio.sleep(self._silent_s)
        while True:
            try:
                if await self._records.lose_silent_runs(now_us() - round(self._silent_s * 1e6)):
                    self._tell()
            except UserError as error:  # the store is away; it may come back
                _log.warning("%s", error)
            await asyncio.sleep(self._watch_s)
