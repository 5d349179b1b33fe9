"""tests/devices/test_operators.py on a GPU."""

from devices.test_operators import *  # noqa: F403
