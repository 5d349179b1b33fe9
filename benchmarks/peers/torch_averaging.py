# PyTorch's and timm's averages: their update alone, and after a step of wide & deep.
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch_eager import wide_deep

import workloads
from worker import serve


def module_of(tensors):
    size = workloads.OPTIMIZER_ELEMENTS // tensors
    return torch.nn.ParameterList(torch.nn.Parameter(torch.ones(size)) for _ in range(tensors))


def averaged_model(module):
    average = AveragedModel(module, multi_avg_fn=get_ema_multi_avg_fn(workloads.DECAY))
    return lambda: average.update_parameters(module)


def model_ema_v3(module):
    # Loads this file alone: `import timm` also imports torchvision, which may be installed for another build of torch.
    path = Path(find_spec("timm").origin).parent / "utils" / "model_ema.py"
    spec = spec_from_file_location("model_ema", path)
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    average = loaded.ModelEmaV3(module, decay=workloads.DECAY, foreach=True)
    return lambda: average.update(module)


def alone(make, tensors):
    update = make(module_of(tensors))

    def run(steps):
        for _ in range(steps):
            update()
        return 0.0

    return run


serve(
    {
        "wide_deep": wide_deep,
        "wide_deep_averaged": lambda: wide_deep(averaged_model),
        **{
            f"{make.__name__}_{tensors}": lambda facts=(make, tensors): alone(*facts)
            for make in (averaged_model, model_ema_v3)
            for tensors in workloads.OPTIMIZER_TENSORS
        },
    }
)
