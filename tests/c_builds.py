# The C interface for programs in other languages: where it is installed, how programs are built with it.
from pathlib import Path

import pytest

import paddle_mini as pm
from optimizer_builds import BUILD, ROOT, run, tool
from paddle_mini import _core
from small_model import SmallModel

PACKAGE = Path(_core.__file__).parent / "capi"
BORDER = ROOT / "tests/c_interface/border"


def install(folder):
    """The prefix of `cmake --install`, moved to a folder that the installation does not know."""
    if BUILD is None:
        pytest.skip("there is no build directory to install from")
    run(tool("cmake"), "--install", BUILD, "--component", "c", "--prefix", folder / "first")
    return (folder / "first").rename(folder / "moved")


def environment(prefix):
    return {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}


def pkg_config(prefix, *words):
    return run(tool("pkg-config"), *words, "paddle_mini", env=environment(prefix)).split()


def compile_c(prefix, program, source, *options, compiler="gcc", standard="gnu99"):
    """Builds a program from one file; it finds the library where it was linked."""
    (libdir,) = pkg_config(prefix, "--variable=libdir")
    warnings = ["-Wall", "-Wextra", "-Werror"]
    flags = [f"-std={standard}", *warnings, "-g", "-O1", "-pthread", *pkg_config(prefix, "--cflags"), *options]
    libraries = [*pkg_config(prefix, "--libs"), f"-Wl,-rpath,{libdir}"]
    run(tool(compiler), *flags, "-o", program, source, *libraries)
    return program


def saved_models(folder):
    """Saves a model for inference, `m`, and its training with an average, `train`, in files of every format; returns the model
    that is trained. The loop of `endless` does not end."""
    optimizers = []
    optimizers.append(pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.05), window_size=3))
    model = SmallModel(optimizers[0].minimize)
    pm.io.save_inference_model(folder / "m", [model.x], [model.logits], scope=model.scope)
    pm.io.save(model.main, folder / "train", model.scope)
    pm.io.save_program(folder / "train", model.main, model.scope)
    for name in ("state.pdparams", "state.safetensors"):
        pm.io.save_state(folder / name, pm.io.get_state(model.main, model.scope))
    with pm.program_guard(pm.Program(), pm.Program()):
        one = pm.layers.fill_constant([1], "float32", 1.0)
        end = pm.layers.while_loop(lambda i: i > 0, lambda i: [i + 1.0], [one])
        pm.io.save_inference_model(folder / "endless", [], end)
    (folder / "apply.pdmodel").write_bytes(optimizers[0].apply_program(keep_raw=True).to_bytes())
    (folder / "restore.pdmodel").write_bytes(optimizers[0].restore_program().to_bytes())
    return model
