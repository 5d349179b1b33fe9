# Tests that take minutes, which PM_THOROUGH=1 adds, as .ci/run does.
import os

import pytest

IS_THOROUGH = os.environ.get("PM_THOROUGH") == "1"
thorough = pytest.mark.skipif(not IS_THOROUGH, reason="runs with PM_THOROUGH=1, as in .ci/run")
