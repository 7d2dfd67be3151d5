"""Posts to HTTP servers that the user names, with limits on time and size; answers are untrusted bytes."""

import base64
import contextlib
import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pinctl.errors import CouldNotFindOutError
from pinctl.model.recording import BODY_LIMIT
from pinctl.model.variant import Live, without_credentials

_CHUNK = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered.

    Attributes:
        status: of HTTP.
        reason: the words beside the status, untrusted as all of it.
        headers: by lower-case name.
        body: as it came.
    """

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


class TooSlowError(CouldNotFindOutError):
    """The time limit was over before the whole answer was there."""


class NoConnectionError(CouldNotFindOutError):
    """There is nobody to ask, or the connection broke."""


def post(server: Live, data: bytes, *, seconds: float) -> Answer:
    """Posts JSON to a server.

    Redirects are not followed, whatever their status; the environment's proxies are used, except for this machine.

    Args:
        server: whom to ask.
        data: the JSON text.
        seconds: the time limit from the first byte sent to the last byte read.

    Returns:
        The answer, whatever its status.

    Raises:
        TooSlowError: the limit is over.
        NoConnectionError: the server is not there, or breaks off.
        CouldNotFindOutError: the body is longer than `BODY_LIMIT`.
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "pinctl"}
    if server.user is not None:
        headers["Authorization"] = f"Basic {base64.b64encode(server.user.encode()).decode()}"
    request = urllib.request.Request(server.endpoint, data=data, headers=headers, method="POST")  # noqa: S310 - http(s)
    end = time.monotonic() + seconds
    sockets: list[socket.socket] = []
    proxies = [urllib.request.ProxyHandler({})] if server.is_loopback else []
    opener = urllib.request.build_opener(_NoRedirects, _Http(sockets), _Https(sockets), *proxies)
    try:
        with _ended_after(seconds, sockets), contextlib.closing(_open(opener, request, seconds)) as response:
            body = _read(response, server)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if isinstance(error, TimeoutError) or time.monotonic() >= end or _is_timeout(error):
            raise TooSlowError(f"{server.label} took longer than {seconds:g} s") from error
        raise NoConnectionError(f"{server.label} gave no answer: {_words(error)}") from error
    if time.monotonic() >= end:
        raise TooSlowError(f"{server.label} took longer than {seconds:g} s")
    kept = {name.lower(): value for name, value in response.headers.items()}
    return Answer(status=response.status, reason=str(response.reason), headers=kept, body=body)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an answer: a request may hold what another host must not see."""

    def redirect_request(self, *_arguments: Any, **_options: Any) -> None:
        return None


class _Http(urllib.request.HTTPHandler):
    """Keeps the sockets that it opens, so that they can be shut when time is over."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        super().__init__()
        self._sockets = sockets

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_keeping(http.client.HTTPConnection, self._sockets), req)


class _Https(urllib.request.HTTPSHandler):
    """Likewise over TLS."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        super().__init__()
        self._sockets = sockets

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_keeping(http.client.HTTPSConnection, self._sockets), req)


def _keeping(kind: type[http.client.HTTPConnection], sockets: list[socket.socket]) -> Any:
    """Returns a kind of connection that puts its socket into a list as soon as it has one."""

    class Keeping(kind):  # type: ignore[valid-type,misc]
        def connect(self) -> None:
            super().connect()
            sockets.append(self.sock)

    return Keeping


def _open(opener: urllib.request.OpenerDirector, request: urllib.request.Request, seconds: float) -> Any:
    try:
        return opener.open(request, timeout=seconds)
    except urllib.error.HTTPError as answer:
        return answer


@contextlib.contextmanager
def _ended_after(seconds: float, sockets: list[socket.socket]) -> Iterator[None]:
    """Shuts sockets when time is over: their own timeouts begin anew with every byte of a server that drips."""

    def shut() -> None:
        for each in sockets:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(each, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, shut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _read(response: Any, server: Live) -> bytes:
    body = bytearray()
    while chunk := response.read(_CHUNK):
        body += chunk
        if len(body) > BODY_LIMIT:
            raise CouldNotFindOutError(f"{server.label} sends more than {BODY_LIMIT // 2**20} MiB")
    # http.client takes the end of the connection for the end of a body that it reads in pieces.
    if getattr(response, "length", None):
        raise http.client.IncompleteRead(bytes(body), response.length)
    return bytes(body)


def _is_timeout(error: Exception) -> bool:
    return isinstance(error, urllib.error.URLError) and isinstance(error.reason, TimeoutError)


def _words(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror
    return without_credentials(" ".join(str(reason).split())) or type(reason).__name__
