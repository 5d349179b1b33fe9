"""Properties of every mutant: it is accepted, or rejected by an error of the project's that can be printed."""

import unicodedata

import paddle_mini as pm

# Categories of characters that a terminal would obey, hide or refuse: control, format, surrogate, private, line ends.
# Characters that Unicode does not define yet, and wide spaces, are only shown badly.
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


class Violation(Exception):
    """Raised when a mutant shows a defect."""


def require(condition, *text):
    if not condition:
        raise Violation(*text)


def accepted(call, *kinds):
    """(True, the call's result), or (False, the error). Only errors of these kinds, pm.Error by default, may reject; an
    out-of-memory error is not a defect."""
    try:
        return True, call()
    except (*(kinds or (pm.Error,)), MemoryError) as error:  # noqa: B030 (kinds are classes of exceptions)
        if not isinstance(error, MemoryError):
            check_message(str(error))
        return False, error


def check_message(message):
    require(message.strip(), "an error without a message")
    require(len(message.splitlines()) <= 12, f"a message of {len(message.splitlines())} lines: {message[:300]!r}")
    require(len(message) < 6000, f"a message of {len(message)} characters: {message[:300]!r}")
    hidden = [one for one in message.replace("\n", "") if unicodedata.category(one) in HIDDEN]
    require(not hidden, f"a message that can't be shown: {message[:300]!r}")
