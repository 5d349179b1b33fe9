# Files: programs and parameters, in PaddlePaddle's formats.
from .model import load_inference_model, load_program, read_program, save_inference_model, save_program
from .parameters import load_parameters, save_parameters

__all__ = ["load_inference_model", "load_parameters", "load_program", "read_program", "save_inference_model",
           "save_parameters", "save_program"]
