# SPDX-License-Identifier: Apache-2.0
"""Pages about problems, and answers for addresses and methods that there are not."""

from __future__ import annotations

import asyncio
import functools
import html
import json
import re

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from clarion_control.api.problems import INDEX, PROBLEMS, Problem

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
pages = APIRouter(include_in_schema=False)
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body {{ font: 1em/1.5 sans-serif; max-width: 45em; margin: 2em auto; padding: 0 1em }}</style>
{body}
</html>
"""
_SAFE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}


@pages.get("/problems")
async def list_problems() -> HTMLResponse:
    """All kinds of problems, as a page for people."""
    rows = "\n".join(
        f'<li><a href="{kind.uri}">{kind.slug}</a>: {kind.status} {html.escape(kind.title)}</li>'
        for kind in PROBLEMS.values()
    )
    return _page("Problems", f"<h1>Problems</h1>\n<ul>\n{rows}\n</ul>")


@pages.get("/problems/{slug}")
async def show_problem(slug: str) -> HTMLResponse:
    """One kind of problem, as a page for people."""
    kind = PROBLEMS.get(slug)
    if kind is None:
        raise Problem("not-found", f"no problem has this name; {INDEX} lists them")
    body = (
        f"<h1>{html.escape(kind.title)}</h1>\n"
        f"<p>Problem <code>{kind.slug}</code>, status {kind.status}.</p>\n"
        f'<p>{_code(kind.remedy)}</p>\n<p><a href="{INDEX}">All problems</a></p>'
    )
    return _page(kind.title, body)


def add_document(app: FastAPI) -> None:
    """The OpenAPI document, put into text once, when it is first asked for: that takes a fifth of a start."""

    @functools.cache
    def text() -> bytes:
        return json.dumps(app.openapi()).encode()

    async def show(request: Request) -> Response:
        return Response(await asyncio.to_thread(text), media_type="application/json")

    app.add_route("/v1/openapi.json", show, methods=["GET"], include_in_schema=False)


def add_catch_all(app: FastAPI) -> None:
    """Answers for all of /v1 that nothing else did, before anything mounted at / sees it."""

    async def missing(request: Request) -> JSONResponse:
        document = await asyncio.to_thread(app.openapi)  # the first time others would wait for it
        patterns = [(_pattern(path), item) for path, item in document["paths"].items()]
        allowed = {
            method.upper()
            for pattern, item in patterns
            if pattern.fullmatch(request.url.path)
            for method in item
        }
        if allowed:
            detail = f"{request.method} is not known here; use {', '.join(sorted(allowed))}"
            raise Problem("method-not-allowed", detail, headers={"Allow": ", ".join(sorted(allowed))})
        raise Problem("not-found", "nothing is at this address; /v1/openapi.json lists what there is")

    for path in ("/v1", "/v1/{rest:path}", "/metrics"):
        app.add_route(path, missing, methods=METHODS, include_in_schema=False)


def _pattern(path: str) -> re.Pattern[str]:
    """What addresses a path of the OpenAPI document stands for."""
    parts = (re.escape(part) for part in re.split(r"\{[^}]*\}", path))
    return re.compile(("(?s:.+)" if path.endswith("{path}") else "[^/]+").join(parts))


def _page(title: str, body: str) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=html.escape(title), body=body), headers=_SAFE)


def _code(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
