"""tests/devices/test_reading_values.py on a GPU."""

from devices.test_reading_values import *  # noqa: F403
