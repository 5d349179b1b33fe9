"""A parameter server, or a trainer that pushes to it, in a process of its own: for tests between network namespaces.

server HOST KEYS: prints its address. trainer ADDRESS KEYS PUSHES: prints each step, then the values and the counts. KEYS and
ADDRESS are JSON; a line on stdin ends the server.
"""

import json
import sys
import threading
import time

import numpy as np

from paddle_mini.cluster.client import Client
from paddle_mini.cluster.protocol import GetServerStatus, Push
from paddle_mini.cluster.servers.server import ParameterServer
from paddle_mini.cluster.servers.settings import ServerSettings
from paddle_mini.cluster.service_socket import Address, Keys, ServiceSocket
from paddle_mini.cluster.shards import ParameterInfo
from paddle_mini.cluster.socket_link import SocketLink
from paddle_mini.cluster.trainers.remote_parameters import RemoteParameter, RemoteParameters
from paddle_mini.cluster.values import BlockKey
from server_calls import JOB, config

SIZE = 5000


def serve(host, keys):
    server = ParameterServer(0, ServerSettings(JOB, 1, 1))
    one, stop = ServiceSocket("server 0", keys, "a", host, ""), threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    print(json.dumps(one.address), flush=True)
    one.serve(server.take, server.tick, stop.is_set)
    one.close()


def train(address, keys, pushes):
    link = SocketLink(keys, "b", lambda service: address)
    client = Client(link, JOB, timeout=30.0, attempt=1.0)
    info = ParameterInfo("w", (SIZE,), "float32")
    remote = RemoteParameters(client, [RemoteParameter(info, config("SGD", rate=1.0))], 1)
    remote.initialise([0], 1, {"w": np.zeros(SIZE, "float32")})
    longest = 0.0
    for step in range(pushes):
        begin = time.monotonic()
        client.request("server 0", Push(0, 0, step, [BlockKey("w", 0)], arrays=[np.ones(SIZE, "float32")]))
        longest = max(longest, time.monotonic() - begin)
        print(step, flush=True)
        time.sleep(0.01)
    values = remote.pull(["w"])["w"]
    pushes_of = client.request("server 0", GetServerStatus()).pushes
    link.close()
    print(json.dumps({"values": sorted(set(values.tolist())), "pushes": vars(pushes_of), "longest": longest}), flush=True)


if __name__ == "__main__":
    role, where, keys = sys.argv[1], sys.argv[2], Keys(*(key.encode("latin-1") for key in json.loads(sys.argv[3])))
    serve(where, keys) if role == "server" else train(Address(*json.loads(where)), keys, int(sys.argv[4]))
