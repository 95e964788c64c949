"""A site far away: a server in between that hands everything on, what scripts ask for two
seconds late.
"""

import contextlib
import http.client
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

SECONDS = 2.0
OWN = ("connection", "content-length", "date", "server")  # headers that are said again at each hop


@contextlib.contextmanager
def slowed(base: str) -> Iterator[str]:
    """Give an address at which the site is slow."""
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Handler", (Handler,), {"site": urlsplit(base).netloc})
    )
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    site: str

    def hand_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("HX-Request"):
            time.sleep(SECONDS)
        with contextlib.suppress(
            OSError, http.client.HTTPException
        ):  # nobody waits for it any more
            self.answer(body)

    def answer(self, body: bytes) -> None:
        with contextlib.closing(http.client.HTTPConnection(self.site, timeout=60)) as connection:
            connection.request(
                self.command, self.path, body, {**self.headers, "Accept-Encoding": "identity"}
            )
            answer = connection.getresponse()
            content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in OWN:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = hand_on  # noqa: N815

    def log_message(self, *_words: object) -> None:
        pass
