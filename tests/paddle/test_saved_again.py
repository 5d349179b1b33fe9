"""Programs of PaddlePaddle 2.6.2, read and written here: it runs them as it runs its own."""

import json

import numpy as np
import pytest

import paddle_mini as pm
from golden import case_values
from golden.test_golden import CASES

PROGRAMS = [case for case in CASES if (case / "main.pb").exists() and not case.name.startswith("bad_")]


@pytest.fixture(scope="module")
def results(run_all, tmp_path_factory, as_arrays):
    """By case: (fetches, PaddlePaddle's results for its own bytes, for those written here, for those pruned for each
    fetch)."""
    folder, asked, kinds = tmp_path_factory.mktemp("again"), {}, {}
    for case in PROGRAMS:
        meta, feeds = json.loads((case / "case.json").read_text()), case_values.load_npz(case / "feeds.npz")
        fed = case_values.feed_of(feeds, "0", meta.get("set_vars", ()))
        values = {**case_values.load_npz(case / "init.npz"), **{name: feeds[f"0/{name}"] for name in meta.get("set_vars", ())}}
        for name, value in fed.items():
            values.update(as_arrays(f"feed:{name}", pm.LoDTensor(*value) if isinstance(value, tuple) else value))
        data = (case / "main.pb").read_bytes()
        program = pm.Program.from_bytes(data)
        versions = {"own": (data, meta["fetch"]), "again": (program.to_bytes(), meta["fetch"])}
        for fetch in meta["fetch"]:
            versions[fetch] = program.prune(list(fed), [fetch]).to_bytes(), [fetch]
        for number, (version, (bytes_of, fetches)) in enumerate(versions.items()):
            key = f"{case.name}.{number}"
            (folder / f"{key}.pb").write_bytes(bytes_of)
            np.savez(folder / f"{key}.npz", **values)
            asked[key], kinds[key] = fetches, (case.name, version)
    found = run_all(folder, asked)
    by_case = {}
    for key, (name, version) in kinds.items():
        by_case.setdefault(name, {})[version] = found[key]
    return by_case


@pytest.mark.parametrize("name", [case.name for case in PROGRAMS])
def test_program(results, name):
    versions = dict(results[name])
    own = versions.pop("own")
    for version, found in versions.items():
        assert not isinstance(found, str), f"{version}: {found}"
        for key, value in found.items():
            np.testing.assert_allclose(value, own[key], rtol=1e-5, atol=1e-6, err_msg=f"{version}: {key}")


@pytest.mark.parametrize(
    "layer, fed",
    [("Decoder", np.array([[9, 10, 15], [4, 2, 1]])), ("Product", np.ones((2, 3), "float32"))],
    ids=["words that grow in a loop", "einsum"],
)
def test_model(paddle, tmp_path, layer, fed):
    paddle.ask(
        "jit_save",
        tmp_path,
        to=str(tmp_path / "own"),
        layer=layer,
        dtype=str(fed.dtype),
        shape=[None, None] if layer == "Decoder" else [None, 3],
    )
    exe, scope = pm.Executor(pm.CPUPlace()), pm.Scope()
    program, feeds, fetches = pm.io.load_inference_model(tmp_path / "own", scope=scope)
    expected = exe.run(program, {feeds[0]: fed}, fetches, scope)
    for source, target in (("own", "again"), ("again", "once more")):
        read = pm.Scope()
        program, feeds, fetches = pm.io.load_inference_model(tmp_path / source, scope=read)
        pm.io.save_inference_model(tmp_path / target, feeds, fetches, scope=read)
    np.savez(tmp_path / "feeds.npz", **{feeds[0]: fed})
    for version in ("own", "again", "once more"):
        for job, names in (("load_inference_model", {}), ("jit_load", feeds)):
            paddle.ask(job, tmp_path, source=str(tmp_path / version), names=names)
            with np.load(tmp_path / "results.npz") as found:
                for ours, key in zip(expected, found.files):
                    np.testing.assert_allclose(ours, found[key], rtol=1e-5, atol=1e-6, err_msg=f"{version}: {job}")
        names_there = json.loads((tmp_path / "names.json").read_text())
        if version == "own":
            own_names = names_there
        assert names_there == own_names
    last = pm.Scope()
    program, feeds, fetches = pm.io.load_inference_model(tmp_path / "once more", scope=last)
    for ours, value in zip(exe.run(program, {feeds[0]: fed}, fetches, last), expected):
        np.testing.assert_array_equal(ours, value)
