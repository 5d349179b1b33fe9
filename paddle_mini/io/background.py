# BackgroundCall: a call in a thread whose error is raised later, by the thread that waits for it.
from __future__ import annotations

import threading
import traceback
import warnings
import weakref
from collections.abc import Callable


class BackgroundCall:
    """Calls a function in a thread, at once. The process ends after it has returned; an error that wait() did not raise is a
    warning at that time, or when the object is no longer used."""

    def __init__(self, function: Callable[[], object]):
        self._errors: list[BaseException] = []
        self._texts: list[str] = []
        # Not the thread's join(): once an interrupt has ended that, Python takes the thread for ended.
        self._ended = threading.Event()
        errors, texts, ended = self._errors, self._texts, self._ended

        def call() -> None:
            try:
                function()
            except BaseException as error:
                errors.append(error)
                texts.append("".join(traceback.format_exception_only(error)).strip())
            finally:
                ended.set()

        threading.Thread(target=call, name="paddle_mini background").start()
        # It must not refer to the error, whose traceback may refer to this object.
        weakref.finalize(self, _warn_of, texts)

    def wait(self) -> None:
        """Returns when the function has returned, and raises its error, once."""
        self._ended.wait()
        self._texts.clear()
        if self._errors:
            raise self._errors.pop()


def _warn_of(texts: list[str]) -> None:
    for text in texts:
        warnings.warn(text, stacklevel=2)
