# A service on a socket that returns what it gets, and what asks it, for tests of sockets.
import socket
import threading
import time
from contextlib import contextmanager

import numpy as np
import zmq

from paddle_mini.cluster import Gone
from paddle_mini.cluster.engine import Envelope
from paddle_mini.cluster.service_socket import Keys, ServiceSocket
from paddle_mini.cluster.socket_link import SocketLink

KEYS = Keys.new()


class Echo:
    """A service that returns its arguments. kept: requests that it answers at the next tick; slow: seconds for each."""

    def __init__(self):
        self.requests, self.kept, self.slow = [], [], 0.0

    def take(self, header, arrays, respond, patience, memory=None):
        self.requests.append(header)
        time.sleep(self.slow)
        if header == b"fail":
            raise ValueError("melted")
        if header == b"go away":
            respond(Gone("another process serves"))
        elif header == b"later":
            self.kept.append(respond)
        else:
            respond((header + b"!", [np.asarray(array + 1) for array in arrays]))

    def tick(self):
        for respond in self.kept:
            respond((b"now", []))
        self.kept.clear()


@contextmanager
def served(service, folder="", keys=KEYS):
    one, stop = ServiceSocket("server 0", keys, "here", "127.0.0.1", str(folder)), threading.Event()

    def serve():
        one.serve(service.take, service.tick, stop.is_set)
        one.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield one.address
    finally:
        stop.set()
        thread.join()


@contextmanager
def linked(address, keys=KEYS, machine="there"):
    link = SocketLink(keys, machine, lambda service: address)
    try:
        yield lambda header=b"", arrays=(), timeout=10.0: link.send([Envelope("server 0", header, list(arrays))], timeout)[0]
    finally:
        link.close()


def place(address):
    host, port = address.remote.removeprefix("tcp://").split(":")
    return host, int(port)


def connected(address):
    one = socket.create_connection(place(address), timeout=10)
    time.sleep(0.2)  # so that its address is known before it is refused
    return one


def ended(connection):
    """Whether the other side closes the connection."""
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def raw(address):
    """A socket with the job's keys, for messages that no link sends."""
    one = zmq.Context.instance().socket(zmq.DEALER)
    one.linger, one.rcvtimeo = 0, 10_000
    one.curve_serverkey, one.curve_publickey, one.curve_secretkey = KEYS.server, KEYS.client, KEYS.client_secret
    one.connect(address.remote)
    return one
