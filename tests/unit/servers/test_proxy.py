"""The proxy counts what passes, and breaks connections at the byte it was told."""

import socket
import time

import psycopg
import pytest
import redis


@pytest.fixture
def proxy(valkey: str, tcp_proxy):
    return tcp_proxy(valkey)


@pytest.fixture
def line(proxy):
    """A connection through the proxy, without a client's handshake."""
    with socket.create_connection((proxy.host, proxy.port), timeout=5) as connection:
        yield connection


def _rest(line: socket.socket) -> bytes:
    received = b""
    while data := line.recv(100):
        received += data
    return received


def test_bytes_and_round_trips_are_counted_both_ways(proxy, line: socket.socket):
    with proxy.counting() as seen:
        for _ in range(3):
            line.sendall(b"PING\r\n")
            assert line.recv(100) == b"+PONG\r\n"
    assert (seen.round_trips, seen.sent, seen.received) == (3, 18, 21)


def test_a_pipeline_is_one_round_trip(proxy):
    with redis.Redis.from_url(proxy.url) as client:
        client.ping()
        with proxy.counting() as seen, client.pipeline(transaction=False) as pipeline:
            for number in range(10):
                pipeline.set("servers:pipeline", number)
            pipeline.execute()
        assert seen.round_trips == 1


@pytest.mark.parametrize("count", [0, 1, 6, 7])
def test_an_answer_breaks_off_after_exactly_so_many_bytes(proxy, line: socket.socket, count: int):
    proxy.cut_after(received=count)
    line.sendall(b"PING\r\n")
    assert _rest(line) == b"+PONG\r\n"[:count]


def test_a_request_arrives_up_to_the_cut_and_no_further(proxy, valkey: str):
    request = b"SET servers:cut value\r\n"
    with redis.Redis.from_url(valkey) as client:
        for sent in (len(request) - 1, len(request)):
            client.delete("servers:cut")
            with socket.create_connection((proxy.host, proxy.port), timeout=5) as line:
                proxy.cut_after(sent=sent)
                line.sendall(request)
                assert _rest(line) == b""
            until = time.monotonic() + (2 if sent == len(request) else 0.1)
            while client.get("servers:cut") is None and time.monotonic() < until:
                time.sleep(0.01)
            assert (client.get("servers:cut") is not None) == (sent == len(request))


def test_only_one_connection_is_cut_and_the_next_one_passes(proxy):
    with redis.Redis.from_url(proxy.url, retry=None) as client:
        client.ping()
        proxy.cut_after(received=1)
        with pytest.raises(redis.ConnectionError):
            client.ping()
        assert client.ping()
    assert proxy.traffic.cuts == 1


def test_a_connection_can_be_reset_instead_of_closed(proxy, line: socket.socket):
    line.sendall(b"PING\r\n")
    line.recv(100)
    proxy.cut(reset=True)
    with pytest.raises(ConnectionResetError):
        line.recv(100)


def test_connections_are_refused_until_the_proxy_is_restored(proxy, line: socket.socket):
    proxy.cut_after(sent=1, refuse=True)
    line.sendall(b"PING\r\n")
    assert _rest(line) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((proxy.host, proxy.port), timeout=5)
    proxy.restore()
    with redis.Redis.from_url(proxy.url) as client:
        assert client.ping()


def test_a_delay_is_added_to_each_round_trip(proxy, line: socket.socket):
    proxy.delay = 0.1
    began = time.monotonic()
    for _ in range(2):
        line.sendall(b"PING\r\n")
        line.recv(100)
    assert time.monotonic() - began >= 0.2


def test_a_stalled_connection_goes_on_where_it_stood(proxy, line: socket.socket):
    proxy.stall()
    line.settimeout(0.1)
    line.sendall(b"PING\r\n")
    with pytest.raises(TimeoutError):
        line.recv(100)
    proxy.restore()
    line.settimeout(5)
    assert line.recv(100) == b"+PONG\r\n"


def test_postgres_is_reached_through_it_as_well(postgres: str, tcp_proxy):
    proxy = tcp_proxy(postgres)
    with psycopg.connect(proxy.url, autocommit=True) as connection:
        with proxy.counting() as seen:
            connection.execute("SELECT 1")
        assert seen.round_trips == 1
        proxy.cut()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
