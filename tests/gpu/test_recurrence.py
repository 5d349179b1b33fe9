"""tests/devices/test_recurrence.py on a GPU."""

from devices.test_recurrence import *  # noqa: F403
