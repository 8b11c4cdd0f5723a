"""Certificates made on the spot, and TLS before a server that was built without it.

The servers that wheels carry speak no TLS, so it ends in front of them, as it does with many that
are rented.
"""

import asyncio
import contextlib
import dataclasses
import datetime as dt
import ipaddress
import ssl
import threading
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from servers.processes import HOST, give_port_back, take_port


@dataclasses.dataclass(frozen=True)
class Certificates:
    """Files in PEM: who signs, and what a server on 127.0.0.1 or localhost shows."""

    ca: Path
    certificate: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _builder(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name("the authority of the tests"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=2))
    )


def make_certificates(folder: Path) -> Certificates:
    files = Certificates(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    signs = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    known_by = x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key())
    signer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(known_by)
    here = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(HOST))]
    authority = (
        _builder("the authority of the tests", ca_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(signs, critical=True)
        .add_extension(known_by, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    server = (
        _builder("localhost", key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(here), critical=False)
        .add_extension(signer, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    files.ca.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    files.certificate.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


class TlsFront:
    """Listens with TLS on a port of its own and passes on, in the clear, to a port on this host.

    An event loop in one thread, since one TLS connection is not for two threads.
    """

    def __init__(self, target_port: int, certificates: Certificates):
        self.host, self.port = HOST, take_port()
        self._target = target_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="tls")
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(
                self._serve, self.host, self.port, ssl=certificates.server_context()
            ),
            self._loop,
        ).result(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward = None
        with contextlib.suppress(OSError, asyncio.CancelledError):
            back, onward = await asyncio.open_connection(HOST, self._target)
            ways = [
                asyncio.ensure_future(_pass_on(reader, onward)),
                asyncio.ensure_future(_pass_on(back, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        for end in (writer, onward):
            if end is not None:
                end.transport.abort()

    def close(self) -> None:
        async def stop() -> None:
            self._server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            await asyncio.sleep(0)  # transports that were aborted close in the next round

        asyncio.run_coroutine_threadsafe(stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        give_port_back(self.port)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()
