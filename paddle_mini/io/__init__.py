# Files: programs and parameters in PaddlePaddle's formats, safetensors, and checkpoints of training.
"""save_inference_model and load_inference_model are for models, CheckpointManager for training that resumes with the same bits,
save_state and load_state for arrays by name. The formats are PaddlePaddle 2.6.2's, and safetensors; docs/files.md compares them.
A file is replaced as a whole or stays as it was, and a file that does not fit changes nothing."""

from ..renamed import make_take_other_names, show_public
from ..shared_docs import describe_shared
from .checkpoint import CheckpointManager, Restored
from .model import load_inference_model, load_program, read_program, save_inference_model, save_program
from .parameters import load_parameters, save_parameters
from .state import get_state, load, load_state, save, save_state, set_state
from .variables import load_params, load_persistables, load_vars, save_params, save_persistables, save_vars

__all__ = [
    "CheckpointManager",
    "Restored",
    "get_state",
    "load",
    "load_inference_model",
    "load_parameters",
    "load_params",
    "load_persistables",
    "load_program",
    "load_state",
    "load_vars",
    "read_program",
    "save",
    "save_inference_model",
    "save_parameters",
    "save_params",
    "save_persistables",
    "save_program",
    "save_state",
    "save_vars",
    "set_state",
]

describe_shared(
    [globals()[name] for name in __all__ if name not in ("CheckpointManager", "Restored")],
    {
        "program": "the program with the variables",
        "scope": "the scope with their values; None: the global scope",
        "executor": "not used; PaddlePaddle's functions have it",
        "dirname": "the folder",
        "path": "the file",
        "prefix": "the path of the files, without their suffixes",
        "main_program": "the program with the variables; None: the default main program",
        "filename": "the file for all variables; None: a file for each",
    },
)

make_take_other_names(globals(), ["load_inference_model", "save_inference_model"])
show_public(globals())
