"""tests/devices/test_watches.py on a GPU."""

from devices.test_watches import *  # noqa: F403
