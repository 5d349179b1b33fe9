# Disks that fail, for tests.
import os


class Killed(BaseException):
    """Simulates the end of the process."""


class Disk:
    """The calls that change or read a disk, by name; call number `at` fails. at: -1, none."""

    CALLS = ("open", "write", "fsync", "rename", "unlink", "listdir", "mkdir")

    def __init__(self, monkeypatch, at=-1, failure=None):
        self.calls, self.at, self.failure = [], at, failure
        for name in self.CALLS:
            monkeypatch.setattr(os, name, self.counted(name, getattr(os, name)))

    def counted(self, name, function):
        def called(*arguments, **more):
            names = [os.path.basename(word) if isinstance(word, str) else word for word in arguments[:2]]
            self.calls.append((name, *names))
            if len(self.calls) - 1 == self.at:
                raise self.failure
            return function(*arguments, **more)

        return called
