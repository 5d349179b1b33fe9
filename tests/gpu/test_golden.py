"""tests/devices/test_golden.py on a GPU."""

from devices.test_golden import *  # noqa: F403
