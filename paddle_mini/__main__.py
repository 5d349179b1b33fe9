# python -m paddle_mini: the command paddle-mini.
import sys

from .cli import main

sys.exit(main())
