# Every test begins with empty default programs and an empty global scope.
import signal

import pytest

import paddle_mini as pm

# A shell that runs the tests in the background ignores Ctrl-C for them, and the programs that they start would inherit
# that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def fresh_programs():
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        yield
