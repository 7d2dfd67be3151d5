"""Runs HTTP servers for tests: the embedded stack's own in a process of its own, and small ones that misbehave."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pinctl.flows.superproject.layout import lay_out_stack
from pinctl.flows.superproject.workspace import open_stack
from pinctl.model.where import Where
from pinctl.tools.python import uv
from support import Demo


@contextlib.contextmanager
def stack_server(demo: Demo, revision: str, *, replay: bool) -> Iterator[str]:
    """Starts the embedded stack's server in an environment of a revision with its pins, and yields its URL."""
    place = demo.directory / "served" / revision.replace("/", "-")
    if not place.exists():
        stack = open_stack(Where(directory=demo.superproject))
        # It stays: the components are installed in the way in which prime-rl has them, editable.
        source = lay_out_stack(stack, stack.repository.commit(revision), place / "source")
        uv.make_environment(place / "environment", python=Path(sys.executable))
        uv.install(place / "environment", [str(source)])
    script = Path(__file__).with_name("http_server.py")
    words = [str(place / "environment/bin/python"), "-I", str(script), *(["replay"] if replay else [])]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, env={}, text=True)
    assert process.stdout is not None
    try:
        port = process.stdout.readline().strip()
        assert port.isdecimal(), "the server did not start"
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Runs a handler's server in a thread, and yields its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
