# Every test begins with empty default programs and an empty global scope.
import pytest

import paddle_mini as pm


@pytest.fixture(autouse=True)
def fresh_programs():
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        yield
