"""tests/devices/test_placement.py on a GPU."""

from devices.test_placement import *  # noqa: F403
