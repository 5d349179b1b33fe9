# A server that trains and writes a checkpoint after each step until it is killed: python server_child.py DIRECTORY
import sys

from server_calls import BOTH, Group, call, train

group = Group(1, BOTH, directory=sys.argv[1], begin=False)
if not group.status()["initialised"]:
    group.init({name: given[0] for name, given in BOTH.items()})
while True:
    version = group.status()["version"]
    train(group, version, version + 1)
    print(call(group.servers[0], "checkpoint")[0]["checkpoint"]["version"], flush=True)
