"""Sockets of a job refuse processes without its keys, log each once, and continue."""

import logging
import os
import socket
import time

import numpy as np
import pytest

from paddle_mini.cluster import Gone
from tcp_tap import Tap

pytest.importorskip("zmq")

from echo_socket import KEYS, Echo, connected, ended, linked, place, served
from paddle_mini.cluster import service_socket
from paddle_mini.cluster.service_socket import Keys

SECRET = b"what only the job may read"
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"%s" + bytes(1 + 31)
HUGE = b"\x06" + (1 << 40).to_bytes(8, "big")
"""The beginning of a command of 2^40 bytes."""


def greeting(mechanism):
    """The bytes that each side of ZeroMQ's protocol 3.1 sends first (rfc.zeromq.org/spec/37)."""
    return GREETING % mechanism.ljust(20, b"\0")


@pytest.mark.parametrize(
    "bytes_of_it",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        os.urandom(200),
        b"\x00" * 100,
        greeting(b"NULL") + b"\x04\x19\x05READY",
        greeting(b"CURVE") + HUGE,
        greeting(b"CURVE") + b"\x04\xc8\x05HELLO" + bytes(194),
        greeting(b"PLAIN") + b"\x04\x20\x05HELLO" + bytes(26),
    ],
    ids=["http", "random", "zeros", "no security", "2^40 bytes", "wrong key", "password"],
)
def test_the_bytes_of_a_stranger(bytes_of_it, caplog):
    service = Echo()
    with served(service) as address, linked(address) as ask, caplog.at_level(logging.WARNING):
        for _ in range(2):
            with connected(address) as stranger:
                stranger.sendall(bytes_of_it)
                assert ended(stranger)
        assert ask(b"continues") == (b"continues!", [])
        deadline = time.monotonic() + 10
        while not caplog.messages and time.monotonic() < deadline:
            time.sleep(0.01)
    assert service.requests == [b"continues"]
    assert caplog.messages == ["refused a connection from 127.0.0.1: it sent no message with the keys of this job"]


def test_a_local_message_that_is_too_large(tmp_path):
    with served(Echo(), tmp_path) as address, linked(address, machine="here") as ask:
        with socket.socket(socket.AF_UNIX) as one:
            one.settimeout(10)
            one.connect(address.local.removeprefix("ipc://"))
            one.sendall(greeting(b"NULL") + HUGE)
            assert ended(one)
        assert ask() == (b"!", [])


def test_half_a_message_and_silence(caplog, monkeypatch):
    monkeypatch.setattr(service_socket, "HANDSHAKE", 0.5)
    with served(Echo()) as address, linked(address) as ask, caplog.at_level(logging.WARNING):
        with connected(address) as one:
            one.sendall(greeting(b"CURVE")[:30])
            assert ask(b"meanwhile") == (b"meanwhile!", [])
            assert ended(one)
        assert ask() == (b"!", [])
    assert len(caplog.messages) == 1 and "127.0.0.1" in caplog.messages[0]


OTHERS = Keys.new()


@pytest.mark.parametrize("keys", [OTHERS, OTHERS._replace(server=KEYS.server)], ids=["another job", "wrong key"])
def test_wrong_keys(keys, caplog):
    """A part of another job, and one that knows whom it asks, but has no key that this job has handed out."""
    service = Echo()
    with served(service) as address, linked(address, keys) as stranger, linked(address) as ask:
        with caplog.at_level(logging.WARNING):
            for _ in range(2):
                assert isinstance(stranger(SECRET), Gone)
        assert ask() == (b"!", [])
    assert service.requests == [b""]
    if keys.server == KEYS.server:
        assert caplog.messages == ["refused a connection from 127.0.0.1: it has not the keys of this job"]
    else:  # its address is known if the connection lasts until it is asked for
        assert caplog.messages and len(set(caplog.messages)) == len(caplog.messages)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_is_heard_on_the_way_is_neither_read_nor_sent_again():
    service, values = Echo(), np.arange(50.0)
    with served(service) as address:
        host, port = place(address)
        tap = Tap(host, port)
        with linked(address._replace(remote=f"tcp://{host}:{tap.port}")) as ask:
            assert ask(SECRET, [values])[0] == SECRET + b"!"
        tap.close()
        (heard,) = tap.heard
        assert SECRET not in heard and values.tobytes()[8:24] not in heard
        with connected(address) as stranger:
            stranger.sendall(heard)
            assert ended(stranger)
    assert service.requests == [SECRET]


def test_without_a_folder_there_is_no_local_socket(tmp_path, monkeypatch):
    """A local socket has no keys: who may enter its folder may use it."""
    monkeypatch.chdir(tmp_path)
    with served(Echo()) as address, linked(address, machine="here") as ask:
        assert address.local == "" and list(tmp_path.iterdir()) == []
        assert ask(b"by keys") == (b"by keys!", [])
