"""Files are written from, and read into, the memory of the values."""

import subprocess
import sys
import textwrap


def test_files_of_parameters_need_no_second_copy_in_the_memory(tmp_path):
    """120 MB of parameters are saved where 40 MB are left, and loaded where 40 MB more than they need are left."""
    script = """
        import re, resource, sys
        import paddle_mini as pm

        def leave(megabytes):
            used = int(re.search(r"VmData:\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10
            resource.setrlimit(resource.RLIMIT_DATA, (used + (megabytes << 20), resource.RLIM_INFINITY))

        for i in range(3):
            pm.layers.create_parameter([10_000_000], name=f"p{i}")
        pm.Executor(threads=1).run(pm.default_startup_program())
        other = pm.Scope()
        leave(40)
        pm.io.save_parameters(sys.argv[1], pm.default_main_program())
        leave(120 + 40)
        pm.io.load_parameters(sys.argv[1], pm.default_main_program(), other)
        assert all((other.get(name, copy=False) == pm.global_scope().get(name, copy=False)).all() for name in ("p0", "p1", "p2"))
        print("done")
        """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "parameters")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr
