"""tests/devices/test_offload.py on a GPU."""

from devices.test_offload import *  # noqa: F403
