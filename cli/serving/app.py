"""The server: a page, its policies, and questions that are answered as a stream of events.

Only this machine is listened to (`serve`), only pages that have the token are answered, and only
under the server's own name, so that no page of some other site can ask by a name that leads here.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from blowproof.cli.serving.files import MOST_BYTES, folder_of, listed, opened
from blowproof.cli.serving.pool import AFTER, GRACE, SECONDS, WAIT, Pool, Worker, seconds_of

__all__ = ["application"]

MOST_ASKED = 3 * MOST_BYTES
"""Bytes of a question: a policy, as text and as fields."""

TOO_LARGE = (
    f"this policy is larger than {MOST_BYTES:,} characters, which is more than a page can edit\n"
    "  try: blowproof audit FILE in a terminal, which reads up to 16 MB"
)
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def application(served: Path, pool: Pool, token: str, hosts: frozenset[str]) -> Starlette:
    """Return the server of a folder, for pages with a token that ask under one of the names."""
    asked: dict[str, Worker] = {}  # who answers which question, by the name that its page gave it

    def guarded(
        handler: Callable[[Request], Awaitable[Response]], *, page: bool = False
    ) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            given = request.query_params.get("token", "") if page else ""
            given = given or request.headers.get("x-blowproof-token", "")
            if request.headers.get("host", "") not in hosts:
                response: Response = PlainTextResponse("there is nothing under this name", 403)
            elif not secrets.compare_digest(given.encode(), token.encode()):
                words = "this address lacks its token: take the one that blowproof serve printed"
                response = PlainTextResponse(words, 403)
            else:
                response = await handler(request)
            response.headers.update(HEADERS)
            return response

        return checked

    async def shell(request: Request) -> Response:
        return _asset("workbench.html")

    async def asset(request: Request) -> Response:
        return _with_headers(_asset(request.path_params["name"]))

    async def policies(request: Request) -> Response:
        return JSONResponse(await run_sync(listed, served))

    async def policy(request: Request) -> Response:
        asked = request.query_params
        text = await run_sync(opened, asked.get("place"), asked.get("name"), served)
        if text is None:
            return PlainTextResponse("there is no such policy, or it is too large for a page", 404)
        return PlainTextResponse(text)

    async def ask(request: Request) -> Response:
        try:
            content = await _body(request)
        except ClientDisconnect:
            return Response(status_code=400)
        if content is None:
            return _one_event({"kind": "error", "message": TOO_LARGE, "line": None})
        try:
            question = json.loads(content)
            assert isinstance(question, dict)
        except (ValueError, RecursionError, AssertionError):
            return PlainTextResponse("this is no question", 400)
        return _Events(pool, question, folder_of(question.get("place"), served), asked)

    async def stop(request: Request) -> Response:
        worker = asked.get(request.query_params.get("id", ""))
        if worker is not None:
            await run_sync(worker.stop)
        return Response(status_code=204)

    return Starlette(routes=[
        Route("/", guarded(shell, page=True)),
        Route("/assets/{name}", asset),
        Route("/policies", guarded(policies)),
        Route("/policy", guarded(policy)),
        Route("/ask", guarded(ask), methods=["POST"]),
        Route("/stop", guarded(stop), methods=["POST"]),
    ])  # fmt: skip


def _with_headers(response: Response) -> Response:
    response.headers.update(HEADERS)
    return response


def _asset(name: str) -> Response:
    """A file of the page; the style of the report is the page's too."""
    homes = {"report.css": ("blowproof.cli.report", "style.css"),
             "stepper.js": ("blowproof.cli.report", "script.js"),
             "workbench.html": ("blowproof.cli.serving", "workbench.html"),
             "workbench.js": ("blowproof.cli.serving", "workbench.js"),
             "state.js": ("blowproof.cli.serving", "state.js"),
             "form.js": ("blowproof.cli.serving", "form.js"),
             "closing.js": ("blowproof.cli.serving", "closing.js"),
             "plots.js": ("blowproof.cli.serving", "plots.js"),
             "vega.js": ("blowproof.cli.serving.vendored", "vega.js"),
             "workbench.css": ("blowproof.cli.serving", "workbench.css")}  # fmt: skip
    if name not in homes:
        return PlainTextResponse("there is no such file", 404)
    room, file = homes[name]
    text = files(room).joinpath(file).read_text(encoding="utf-8")
    return Response(text, media_type=f"{KINDS[Path(file).suffix]}; charset=utf-8")


async def _body(request: Request) -> bytes | None:
    """The body of a request; None where it is too large, and the rest of it is not kept."""
    content = bytearray()
    too_large = False
    async for chunk in request.stream():
        too_large = too_large or len(content) + len(chunk) > MOST_ASKED
        if not too_large:
            content += chunk
    return None if too_large else bytes(content)


def _one_event(event: dict[str, Any]) -> Response:
    return Response(json.dumps(event) + "\n", media_type="application/x-ndjson")


class _Events(Response):
    """The events of one question, a line each; the worker ends when the page goes away."""

    media_type = "application/x-ndjson"

    def __init__(
        self, pool: Pool, question: dict[str, Any], folder: Path, asked: dict[str, Worker]
    ) -> None:
        super().__init__()
        del self.headers["content-length"]
        self.pool, self.question, self.folder, self.asked = pool, question, folder, asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last one, or until the page has gone."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}

        async def watch(tasks: anyio.abc.TaskGroup) -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, tasks)
            await send(start)
            async with aclosing(self._events()) as events:
                async for event in events:
                    line = json.dumps(event).encode("ascii") + b"\n"
                    await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            tasks.cancel_scope.cancel()

    async def _events(self) -> AsyncGenerator[dict[str, Any]]:
        if not self.pool.warm.is_set():
            yield {"kind": "starting"}
        worker = await run_sync(self.pool.take)
        if worker is None:
            yield {"kind": "waiting"}
        while worker is None:
            await anyio.sleep(WAIT)
            worker = await run_sync(self.pool.take)
        sound, name = False, str(self.question.get("id", ""))
        self.asked[name] = worker
        try:
            async with aclosing(self._answered(worker)) as events:
                async for event in events:
                    sound = event["kind"] in ("done", "error")
                    yield event
        finally:
            if self.asked.get(name) is worker:
                del self.asked[name]
            with anyio.CancelScope(shield=True):
                await run_sync(lambda: self.pool.give_back(worker, sound=sound))

    async def _answered(self, worker: Worker) -> AsyncGenerator[dict[str, Any]]:
        limit = seconds_of(self.question) or SECONDS
        end = time.monotonic() + limit + AFTER + GRACE
        try:
            await run_sync(worker.ask, self.question, self.folder)
            while time.monotonic() < end:
                event = await run_sync(worker.receive, WAIT, abandon_on_cancel=True)
                if event is not None:
                    yield event
                    if event["kind"] in ("done", "error"):
                        return
            why = "this took far longer than its time limit, and was ended"
        except (EOFError, OSError):
            why = "the search was ended, perhaps for want of memory\n  try: a coarser query"
        yield {"kind": "lost", "message": why}
