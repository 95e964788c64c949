"""The shipped nginx: its file is sound, it holds back who is slow, and it writes nobody down."""

import contextlib
import datetime
import http.client
import ipaddress
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.deploy.test_files import DEPLOY, run, tool
from tests.patience import became
from tests.ports import free_port
from tests.services import became_ready, running

REPORTS = "/api/v1/studies/exam-honesty/reports"
SLOW = 200  # unfinished bodies at once
ADDRESSES = ("127.0.0.1", "203.0.113")


class Behind(BaseHTTPRequestHandler):
    """A server with one thread, which whoever reaches it with half a body would stop."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = "".join(f"{name}: {value}\n" for name, value in self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)
        assert len(body) == int(self.headers.get("Content-Length", 0))

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Behind)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "candor.example.org")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))  # clocks are put right meanwhile
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    (folder / "fullchain.pem").write_bytes(made.public_bytes(pem))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    )


class Proxy:
    """The shipped files, with this test's folders and ports put in, and nothing else changed."""

    def __init__(self, folder: Path, door: int, web: int) -> None:
        self.folder, self.port, self.plain = folder, free_port(), free_port()
        certificate(folder)
        site = (DEPLOY / "nginx" / "candor.conf").read_text()
        for shipped, ours in {
            "/etc/ssl/candor": str(folder),
            "/var/log/nginx": str(folder),
            "listen 443": f"listen 127.0.0.1:{self.port}",
            "listen 80": f"listen 127.0.0.1:{self.plain}",
        }.items():
            assert shipped in site
            site = site.replace(shipped, ours)
        site = re.sub(r"^ *listen \[::\].*\n", "", site, flags=re.MULTILINE)
        upstreams = (DEPLOY / "nginx" / "upstreams.conf").read_text()
        upstreams = upstreams.replace(":8001", f":{door}").replace(":8000", f":{web}")
        (folder / "candor.conf").write_text(site)
        (folder / "upstreams.conf").write_text(upstreams)
        temporary = "".join(
            f"{name}_temp_path {folder}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"daemon off;\npid {folder}/pid;\nerror_log {folder}/main.log;\n"
            "events { worker_connections 1024; }\n"
            f"http {{\n{temporary}access_log {folder}/access.log;\n"
            f"include {folder}/upstreams.conf;\ninclude {folder}/candor.conf;\n}}\n"
        )

    def command(self, *more: str) -> list[str]:
        nginx = tool("nginx", "apt-get install nginx-light")
        own = ["-e", str(self.folder / "main.log"), "-c", str(self.folder / "nginx.conf")]
        return [nginx, *own, *more]

    def connect(self) -> http.client.HTTPSConnection:
        trusted = ssl.create_default_context(cafile=str(self.folder / "fullchain.pem"))
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=trusted, timeout=60)

    def ask(self, path: str, method: str = "GET", **more: Any) -> tuple[int, dict[str, str], str]:
        with contextlib.closing(self.connect()) as connection:
            connection.request(method, path, **more)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()

    def written(self) -> str:
        logs = [path.read_text() for path in self.folder.glob("*.log")]
        return "".join(logs)


def proxied(folder: Path, door: int, web: int) -> contextlib.AbstractContextManager[Proxy]:
    return started(Proxy(folder, door, web))


@contextlib.contextmanager
def started(proxy: Proxy) -> Iterator[Proxy]:
    folder = proxy.folder

    def listens() -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", proxy.port)).close()
            return True
        return False

    with running(proxy.command(), folder / "output.log", listens):
        became_ready(listens, "nginx", folder / "output.log")
        yield proxy


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    with serving() as port, proxied(tmp_path, port, port) as found:
        yield found


@contextlib.contextmanager
def slow_bodies(proxy: Proxy, count: int) -> Iterator[list[ssl.SSLSocket]]:
    """Hold so many connections that began a report of 300 bytes and sent one of them."""
    trusted = ssl.create_default_context(cafile=str(proxy.folder / "fullchain.pem"))
    head = f"POST {REPORTS} HTTP/1.1\r\nHost: candor.example.org\r\nContent-Length: 300\r\n\r\n{{"
    with contextlib.ExitStack() as stack:
        lines = []
        for _ in range(count):
            bare = socket.create_connection(("127.0.0.1", proxy.port), timeout=60)
            held = stack.enter_context(trusted.wrap_socket(bare, server_hostname="127.0.0.1"))
            held.sendall(head.encode())
            held.setblocking(False)
            lines.append(held)
        yield lines


def is_held(line: ssl.SSLSocket) -> bool:
    """Tell whether nothing has come back on a connection, its end neither."""
    try:
        line.recv(1)
    except ssl.SSLWantReadError:
        return True
    except OSError:
        pass
    return False


def test_nginx_reads_the_shipped_files(tmp_path: Path) -> None:
    for name in ("upstreams.conf", "upstreams.compose.conf"):
        folder = tmp_path / name
        folder.mkdir()
        proxy = Proxy(folder, 8001, 8000)
        shipped = (DEPLOY / "nginx" / name).read_text()
        # a container's name is known in its network only
        shutil.copy(DEPLOY / "nginx" / name, folder / "upstreams.conf")
        (folder / "upstreams.conf").write_text(
            re.sub(r"server (door|web):", "server 127.0.0.1:", shipped)
        )
        assert "test is successful" in run(*proxy.command("-t"))


class IssuersProxy(Proxy):
    """The shipped file of an issuer, by itself."""

    def __init__(self, folder: Path, issuer: int) -> None:
        super().__init__(folder, 8001, 8000)
        site = (DEPLOY / "nginx" / "issuer.conf").read_text()
        for shipped, ours in {
            "/etc/ssl/candor-issuer": str(folder),
            "/var/log/nginx": str(folder),
            "listen 443": f"listen 127.0.0.1:{self.port}",
            ":8010": f":{issuer}",
        }.items():
            assert shipped in site
            site = site.replace(shipped, ours)
        site = re.sub(r"^ *listen \[::\].*\n", "", site, flags=re.MULTILINE)
        (folder / "issuer.conf").write_text(site)
        self.all = (folder / "nginx.conf").read_text()
        self.only("issuer.conf")

    def only(self, *names: str) -> None:
        included = "".join(f"include {self.folder}/{name};\n" for name in names)
        text = re.sub(r"^include .*\n", "", self.all, flags=re.MULTILINE)
        (self.folder / "nginx.conf").write_text(text.removesuffix("}\n") + included + "}\n")


def test_nginx_reads_the_issuers_file_by_itself_and_beside_the_sites(tmp_path: Path) -> None:
    proxy = IssuersProxy(tmp_path, 8010)
    for names in (["issuer.conf"], ["upstreams.conf", "candor.conf", "issuer.conf"]):
        proxy.only(*names)
        assert "test is successful" in run(*proxy.command("-t"))


def test_before_an_issuer_is_what_it_serves_and_nothing_is_written(tmp_path: Path) -> None:
    with serving() as port, started(IssuersProxy(tmp_path, port)) as proxy:
        for path, status in (
            ("/issuer/tickets", 200),
            ("/issuer/marks", 200),
            ("/issuer/verbs/counts", 200),  # from this machine
            ("/issuer/tickets/x", 404),
            ("/", 404),
        ):
            assert proxy.ask(path, method="POST", body=b"{}")[0] == status, path
        assert proxy.ask("/issuer/tickets", method="POST", body=b"x" * 17_000)[0] == 413
        *_, said = proxy.ask("/issuer/marks", headers={"X-Forwarded-For": "203.0.113.9"})
        assert "X-Forwarded-For: 127.0.0.1" in said
        assert proxy.written() == ""
        text = (tmp_path / "issuer.conf").read_text()
        (tmp_path / "issuer.conf").write_text(re.sub(r" *allow .*;\n", "", text))
        run(*proxy.command("-s", "reload"))
        assert became(
            lambda: proxy.ask("/issuer/verbs/counts", method="POST", body=b"{}")[0] == 403
        )


def test_two_hundred_unfinished_bodies_hold_nobody_up(proxy: Proxy) -> None:
    with slow_bodies(proxy, SLOW) as lines:
        for path, more in (("/", {}), (REPORTS, {"method": "POST", "body": b"{}"})):
            begun = time.perf_counter()
            assert proxy.ask(path, **more)[0] == 200
            took = time.perf_counter() - begun
            print(f"{path} beside {SLOW} unfinished bodies: {took:.3f} s")
        assert sum(map(is_held, lines)) == SLOW  # it was not one of them that made room


def test_what_a_visitor_says_of_addresses_and_numbers_is_dropped(proxy: Proxy) -> None:
    said = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "http", "X-Request-ID": "mine"}
    told = dict(line.split(": ", 1) for line in proxy.ask("/", headers=said)[2].splitlines())
    assert told["X-Forwarded-For"] == "127.0.0.1"
    assert told["X-Forwarded-Proto"] == "https"
    assert re.fullmatch("[0-9a-f]{32}", told["X-Request-ID"])


def test_nothing_is_written_of_who_came(tmp_path: Path) -> None:
    """Not by the log, not by errors: of a server that is gone, of a body that is too large."""
    gone = free_port()
    with proxied(tmp_path, gone, gone) as proxy:
        assert proxy.ask("/")[0] == 502
        status, headers, body = proxy.ask(REPORTS, method="POST", body=b"{}")
        assert (status, headers["Retry-After"]) == (503, "5")
        assert '"field":"body"' in body
        assert proxy.ask(REPORTS, method="POST", body=b"x" * 200_000)[0] == 413
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", proxy.port)) as bad,
        ):
            bad.sendall(b"\x16\x03rubbish" * 20)
            bad.recv(100)
        assert not any(address in proxy.written() for address in ADDRESSES), proxy.written()


def test_a_plain_connection_is_led_to_the_other(proxy: Proxy) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", proxy.plain)) as connection:
        connection.request("GET", "/s/x/", headers={"Host": "forms.example.org"})
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Location")) == (
            301,
            "https://forms.example.org/s/x/",
        )


def test_bodies_of_reports_stay_off_the_disk(proxy: Proxy) -> None:
    assert proxy.ask(REPORTS, method="POST", body=b"x" * 65_000)[0] == 200
    assert [path for path in (proxy.folder / "client_body").rglob("*") if path.is_file()] == []
    done = subprocess.run(
        ["grep", "-c", "proxy_request_buffering on", proxy.folder / "candor.conf"],
        capture_output=True,
        check=False,
    )
    assert done.stdout.strip() == b"1"
