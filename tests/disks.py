# A limit on the size of files, which simulates a disk that is nearly full.
import resource
import signal
from contextlib import contextmanager


@contextmanager
def disk_of(size):
    """No file may become larger than this number of bytes."""
    limits, note_reply = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, note_reply)
