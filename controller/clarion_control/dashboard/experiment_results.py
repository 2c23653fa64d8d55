# SPDX-License-Identifier: Apache-2.0
"""The results of an experiment: the table that `clarion run` prints, the plots, and all files."""

from __future__ import annotations

import asyncio
import json
import mimetypes
from collections.abc import AsyncIterator, Sequence
from typing import Any, BinaryIO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from clarion_control.dashboard import parts, quantities
from clarion_control.errors import NotFoundError
from clarion_control.experiments.files import ResultFile
from clarion_control.experiments.service import Experiments

LARGEST_SUMMARY = 20_000_000
CHUNK = 65_536
REPORT = "report.html"
# A report contains text of a user's scenario: no scripts, and nothing loaded from elsewhere.
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def address(experiment_id: int, path: str) -> str:
    """The URL of a file."""
    return f"/experiments/{experiment_id}/files/{quote(path)}"


def file_route(experiments: Experiments) -> Route:
    """Serves the files to signed-in users."""

    async def serve(request: Request) -> Response:
        path = request.path_params["path"]
        try:
            file = await experiments.open_file(request.path_params["id"], path)
        except NotFoundError:
            file = None
        if file is None:
            return PlainTextResponse("There is no such file.\n", 404)
        kind = mimetypes.guess_type(path)[0]
        headers = {}
        if path.endswith(REPORT):
            headers["Content-Security-Policy"] = REPORT_POLICY
        elif kind != "image/png":
            headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(path.rpartition('/')[2])}"
            kind = "application/octet-stream"
        return StreamingResponse(_chunks(file), media_type=kind, headers=headers)

    return Route("/experiments/{id:int}/files/{path:path}", serve, methods=["GET"])


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    try:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
    finally:
        file.close()


async def summary(experiments: Experiments, experiment_id: int) -> dict[str, Any] | None:
    """The summary of the run or batch, None as long as there is none."""
    file = await experiments.open_file(experiment_id, experiments.scenarios.summary_file())
    if file is None:
        return None
    with file:
        text = await asyncio.to_thread(file.read, LARGEST_SUMMARY)
    try:
        document = json.loads(text)
    except ValueError:  # it is being written
        return None
    return document if isinstance(document, dict) else None


def show_table(columns: Sequence[str], rows: list[list[str]]) -> None:
    """Draws the table of results; a row with other columns, of another version of Clarion, is left out."""
    rows = [row for row in rows if len(row) == len(columns)]
    with parts.block("table", "table rows"):
        parts.head_row(*columns, ends=tuple(columns[1:]))
        with parts.block("tbody"):
            for row in rows:
                with parts.block("tr"):
                    for index, (column, content) in enumerate(zip(columns, row, strict=True)):
                        parts.cell_text(column, "number end" if index else "title", content)


def show_plots(experiment_id: int, files: list[ResultFile]) -> None:
    """Draws the plots of the run, or of the batch; its report has those of the single runs."""
    plots = [file.path for file in files if file.path.endswith(".png") and "/" not in file.path]
    with parts.block(classes="plots"):
        for path in plots:
            name = path.removesuffix(".png").replace("-", " ")
            with parts.block("figure"):
                image = parts.block("img").props(f'loading="lazy" src="{address(experiment_id, path)}"')
                image.props["alt"] = f"Plot: {name}"


def show_files(experiment_id: int, files: list[ResultFile]) -> None:
    """Draws all files as download links."""
    with parts.block("details"):
        parts.text(f"All files ({len(files)})", "summary")
        with parts.block("ul", "files"):
            for file in files:
                with parts.block("li"):
                    parts.link(file.path, address(experiment_id, file.path), "mono")
                    parts.text(f" {quantities.size(file.bytes)}", classes="muted number")
