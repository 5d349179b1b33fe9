# all_reduce of torch.distributed by Gloo between two processes, as a peer of benchmarks/collective.py.
import os
import subprocess
import sys
import tempfile

import torch
import torch.distributed

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from worker import serve

torch.set_num_threads(1)


def member(rank, meeting, megabytes):
    """A function that makes steps, in one of two processes."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    count = torch.zeros(1, dtype=torch.int64)
    gradient = torch.zeros(megabytes * 1_000_000 // 4)

    def run(steps=0):
        """The number of steps is rank 0's; returns an element of the sum of 1 and 2, a step after the other."""
        count[0] = steps
        torch.distributed.broadcast(count, 0)
        for _ in range(int(count)):
            gradient[-1] = rank + 1
            torch.distributed.all_reduce(gradient)
        return float(gradient[-1])

    return run, count


def pair(megabytes):
    meeting = os.path.join(tempfile.mkdtemp(), "meeting")
    subprocess.Popen([sys.executable, __file__, meeting, str(megabytes)])
    return member(0, meeting, megabytes)[0]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run, count = member(1, sys.argv[1], int(sys.argv[2]))
        try:
            while True:
                run()
        except RuntimeError:  # the other one has ended
            sys.exit()
    serve({f"{megabytes}": lambda megabytes=megabytes: pair(megabytes) for megabytes in (1, 10, 100)})
