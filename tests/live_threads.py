# The threads of this process, for tests that leave none.
import threading


def threads():
    """Those of earlier tests may end meanwhile, so a test asks only that none is new."""
    return set(threading.enumerate())
