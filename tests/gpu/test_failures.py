"""tests/devices/test_failures.py on a GPU."""

from devices.test_failures import *  # noqa: F403
