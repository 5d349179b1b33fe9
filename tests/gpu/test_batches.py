"""tests/devices/test_batches.py on a GPU."""

from devices.test_batches import *  # noqa: F403
