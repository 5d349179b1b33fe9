# Files: programs and parameters in PaddlePaddle's formats, safetensors, and checkpoints of training.
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
