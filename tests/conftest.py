# Every test begins with empty default programs and an empty global scope.
import gc
import pathlib
import signal

import hypothesis
import pytest

# The asserts of what tests share show their values too.
SHARED = {path.stem for path in pathlib.Path(__file__).parent.glob("*.py")}
pytest.register_assert_rewrite("families", *(name for name in SHARED if not name.startswith(("test_", "conftest"))))

import paddle_mini as pm  # noqa: E402 - after the registration

# The same examples in every run, however slow a busy machine is.
hypothesis.settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("same")

# A shell that runs the tests in the background ignores Ctrl-C for them, and the programs that they start would inherit
# that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Takes what the collection has made, some 30,000 tests, from the garbage collector, which would visit it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def fresh_programs():
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        yield
