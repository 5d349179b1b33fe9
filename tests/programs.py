# Runs the default programs of a test.
import paddle_mini as pm


def start():
    """Runs the startup program into the global scope; returns the executor."""
    executor = pm.Executor(pm.CPUPlace())
    executor.run(pm.default_startup_program())
    return executor


def run(*fetches, **feed):
    """Runs the startup program and then the main program once; returns the fetched values."""
    return start().run(feed=feed, fetch_list=list(fetches))


def op_types(program=None):
    return [op.type for op in (program or pm.default_main_program()).global_block().ops]
