"""URLs that ask for TLS, on a server behind a proxy that speaks it: the package's own server cannot."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from farthest.errors import StorageError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from servers import PostgresServer

SSL_REQUEST = bytes.fromhex("0000000804d2162f")


class TlsProxy:
    """Takes connections as a PostgreSQL server with TLS does, and passes what it decrypts to one without."""

    def __init__(self, context: ssl.SSLContext, port: int) -> None:
        self._context = context
        self._behind = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.encrypted = 0
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._threads.append(threading.Thread(target=self._serve, args=(client,)))
            self._threads[-1].start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            if client.recv(8) != SSL_REQUEST:
                return
            client.sendall(b"S")
            try:
                tunnel = self._context.wrap_socket(client, server_side=True)
            except (ssl.SSLError, OSError):  # the client does not trust the certificate
                return
            self.encrypted += 1
            with tunnel, socket.create_connection(("127.0.0.1", self._behind)) as server:
                back = threading.Thread(target=_pump, args=(server, tunnel))
                back.start()
                _pump(tunnel, server)
                back.join()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


@pytest.fixture
def authority(tmp_path: Path) -> trustme.CA:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    return authority


@pytest.fixture
def proxy(authority: trustme.CA, postgres_server: PostgresServer) -> Iterator[TlsProxy]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    proxy = TlsProxy(context, postgres_server.port)
    yield proxy
    proxy.close()


@pytest.mark.parametrize(
    "options", ["sslmode=require", "sslmode=verify-full&sslrootcert={folder}/authority.pem"]
)
def test_a_url_that_asks_for_tls(postgres_url: str, proxy: TlsProxy, tmp_path: Path, options: str) -> None:
    name = postgres_url.rpartition("/")[2]
    url = f"postgresql://postgres@localhost:{proxy.port}/{name}?{options.format(folder=tmp_path)}"
    with open_database(url, create=True) as database:
        assert Jobs(database).list() == []
    assert proxy.encrypted > 0


def test_a_server_whose_certificate_is_not_trusted(
    postgres_url: str, proxy: TlsProxy, tmp_path: Path
) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "another.pem"))
    url = f"postgresql://postgres@localhost:{proxy.port}/x?sslmode=verify-full&sslrootcert={tmp_path}/another.pem"
    with pytest.raises(StorageError, match="no connection with TLS can be made") as caught:
        open_database(url, create=True)
    assert "certificate verify failed" in str(caught.value)
    assert "sslrootcert in FARTHEST_DATABASE_URL or --database" in str(caught.value)
