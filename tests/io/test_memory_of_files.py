"""Files are written from, and read into, the memory of the values."""

import subprocess
import sys
import textwrap

import pytest

# How 120 MB are saved and loaded, and how much more memory the loading needs.
WAYS = {
    "parameters": ("pm.io.save_parameters(path, main)", "pm.io.load_parameters(path, main, other)", 120),
    "a state": (
        "pm.io.save_state(path + '.pdparams', {name: pm.global_scope().get(name, copy=False) for name in NAMES})",
        "state = pm.io.load_state(path + '.pdparams'); other.get = lambda name, copy: state[name]",
        120,
    ),
    "safetensors": (
        "pm.io.save_state(path + '.safetensors', {name: pm.global_scope().get(name, copy=False) for name in NAMES})",
        "state = pm.io.load_state(path + '.safetensors'); other.get = lambda name, copy: state[name]",
        120,
    ),
    "a program": ("pm.io.save(main, path)", "pm.io.load(main, path, other)", 240),
    "a checkpoint": ("manager.save(1, main, exe)", "manager.restore(main, exe, other)", 240),
}


@pytest.mark.parametrize("way", WAYS)
def test_files_need_no_second_copy_in_the_memory(tmp_path, way):
    """120 MB are saved where 40 MB are left. They are loaded where 40 MB are left beside their memory and, where all is verified
    before a scope changes, that of the file."""
    script = """
        import re, resource, sys
        import paddle_mini as pm

        class Other(pm.Scope): pass

        def leave(megabytes):
            used = int(re.search(r"VmData:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
            resource.setrlimit(resource.RLIMIT_DATA, (used + (megabytes << 20), resource.RLIM_INFINITY))

        NAMES = ["p0", "p1", "p2"]
        for name in NAMES:
            pm.layers.create_parameter([10_000_000], name=name)
        path, main, exe = sys.argv[1], pm.default_main_program(), pm.Executor(threads=1)
        manager = pm.io.CheckpointManager(path + ".checkpoints")
        exe.run(pm.default_startup_program())
        other = Other()
        leave(40)
        SAVE
        leave(MORE + 40)
        LOAD
        assert all((other.get(name, copy=False) == pm.global_scope().get(name, copy=False)).all() for name in NAMES)
        print("done")
        """
    save, load, more = WAYS[way]
    script = textwrap.dedent(script).replace("SAVE", save).replace("LOAD", load).replace("MORE", str(more))
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "saved")], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr
