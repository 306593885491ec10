"""Serve the page of a labeling session to this machine, and to nobody else.

The address holds a random token, without which nothing is found. Requests must name this server as
their host, and changes must come from its own page (their Origin), so neither other web pages nor
names that resolve to 127.0.0.1 can reach it. The page loads three files from here and nothing from
elsewhere. Requests hold an answer and never a path.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

from ... import _html
from ..._utils.errors import UserError
from ..._utils.words import os_error
from ...labeling._session import StaleAnswer
from ..errors import TableError
from ._page import LabelPage

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["LabelServer", "make_app"]

ADDRESS = "127.0.0.1"
MOST_BYTES = 16_384
"""Of the body of a request."""
SECONDS_TO_END = 2
FILES = {
    "": ("label.html", "text/html"),
    "label.js": ("label.js", "text/javascript"),
    "colours.css": ("colours.css", "text/css"),
    "label.css": ("label.css", "text/css"),
    "icon.svg": ("label.svg", "image/svg+xml"),
}
"""What can be fetched, and nothing else."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class _Guard:
    """Refuse requests that do not come from the page, and add the headers that protect it."""

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self._app, self._token, self._hosts = app, token.encode(), hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                own = [(name.lower().encode(), text.encode()) for name, text in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        refusal = self._refusal(scope)
        app = self._app if refusal is None else refusal
        await app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        from starlette.requests import Request

        headers = Request(scope).headers
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _error(421, "This server answers to its own address only.")
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return _error(403, "This request comes from another page.")
        if scope["method"] not in ("GET", "HEAD") and not origins:
            return _error(403, "This request does not say from which page it comes.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return _error(403, "This request comes from another page.")
        token = scope["path"].removeprefix("/").partition("/")[0].encode()
        if not hmac.compare_digest(token, self._token):
            return _error(404, "There is nothing here.")
        return None


def make_app(page: LabelPage, token: str, port: int) -> ASGIApp:
    """Return the application that serves a page at ``/TOKEN/``."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    actions: dict[str, Callable[[dict[str, Any]], None]] = {
        "answer": lambda body: page.answer(
            _whole(body, "row"),
            _text(body, "kind"),
            _optional(body, "label"),
            turn=_whole(body, "turn"),
            note=_optional(body, "note") or "",
            change=body.get("change") is True,
        ),
        "undo": lambda body: page.undo(turn=_whole(body, "turn")),
        "class": lambda body: page.add_class(_text(body, "name")),
        "save": lambda body: page.save(),
        "finish": lambda body: page.finish(),
    }

    async def state(request: Request) -> Response:
        found: dict[str, Any] = await run_in_threadpool(page.state)
        return JSONResponse(found)

    def act(action: Callable[[dict[str, Any]], None]) -> Callable[..., Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                body = await _body(request)
                await run_in_threadpool(action, body)
            except _BadRequest as bad:
                return _error(bad.status, str(bad))
            except UserError as error:
                now: dict[str, Any] = await run_in_threadpool(page.state)
                shown = {"error": str(error), "code": error.code, "state": now}
                return JSONResponse(shown, 409 if isinstance(error, StaleAnswer) else 400)
            return await state(request)

        return endpoint

    routes = [
        *(Route(f"/{token}/{path}", _file(*what)) for path, what in FILES.items()),
        Route(f"/{token}/state", state),
        *(Route(f"/{token}/{name}", act(one), methods=["POST"]) for name, one in actions.items()),
    ]
    hosts = frozenset({f"{ADDRESS}:{port}", f"localhost:{port}"})
    return _Guard(Starlette(routes=routes), token, hosts)


class _BadRequest(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request."""
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise _BadRequest(415, "The request is not JSON.")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            raise _BadRequest(413, f"The request is longer than {MOST_BYTES:,} bytes.")
    try:
        body = json.loads(content)
    except ValueError:
        raise _BadRequest(400, "The request is not JSON.") from None
    except RecursionError:
        raise _BadRequest(400, "The request is nested too deeply.") from None
    if not isinstance(body, dict):
        raise _BadRequest(400, "The request is not a JSON object.")
    return body


def _whole(body: dict[str, Any], name: str) -> int:
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _BadRequest(400, f"The request has no whole number {name!r}.")
    return value


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not _is_unicode(value):
        raise _BadRequest(400, f"The request has no text {name!r}.")
    return value


def _optional(body: dict[str, Any], name: str) -> str | None:
    return None if body.get(name) is None else _text(body, name)


def _is_unicode(text: str) -> bool:
    """Tell whether a text can be written: JSON may hold half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _error(status: int, sentence: str) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"error": sentence, "code": ""}, status)


def _file(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    from starlette.responses import Response

    content = (resources.files(_html) / "template" / name).read_bytes()

    async def endpoint(request: Request) -> Response:
        return Response(content, media_type=media_type)

    return endpoint


class LabelServer:
    """The server of a page, in a thread of its own.

    Parameters
    ----------
    page : LabelPage
    port : int, default=0
        The port; 0 for any that is free.

    Raises
    ------
    TableError
        If the port cannot be used.
    """

    def __init__(self, page: LabelPage, port: int = 0) -> None:
        import uvicorn

        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((ADDRESS, port))
        except OSError as error:
            self._socket.close()
            raise TableError(
                f"{os_error(error, 'using', f'port {port}')}; give another port.",
                code="label_port",
            ) from error
        self.port = self._socket.getsockname()[1]
        token = secrets.token_urlsafe(24)
        self.address = f"http://{ADDRESS}:{self.port}/{token}/"
        config = uvicorn.Config(
            make_app(page, token, self.port),
            log_config=None,
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="semisquares-page", daemon=True)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def start(self) -> None:
        """Begin to listen."""
        self._socket.listen()  # so that a browser can connect before the loop runs
        self._thread.start()

    def stop(self) -> None:
        """End, after answering the requests that are being handled."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()
