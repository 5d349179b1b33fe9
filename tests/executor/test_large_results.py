"""Results of more than 32 MB use the memory of one that was released, and never that of one that is still in use."""

import resource

import numpy as np

import paddle_mini as pm

COUNT = 10 << 20  # float32 elements: 40 MB


def doubling():
    main, scope, exe = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    with pm.program_guard(main, pm.Program()):
        out = pm.layers.scale(pm.layers.data("x", [-1]), scale=2.0)
    return lambda x: exe.run(main, feed={"x": x}, fetch_list=[out], scope=scope)[0]


def test_a_result_in_use_keeps_its_values():
    run = doubling()
    x = np.arange(COUNT, dtype="float32")
    held = [run(x + i) for i in range(3)]
    part = held.pop()[5:]  # a view keeps the memory of its array
    for i, result in enumerate(held):
        np.testing.assert_array_equal(result, 2 * (x + i))
    del held, result
    again = run(-x)
    np.testing.assert_array_equal(again, -2 * x)
    np.testing.assert_array_equal(part, 2 * (x + 2)[5:])


def test_a_released_result_leaves_its_pages_to_the_next_one():
    run = doubling()
    x = np.ones(COUNT, "float32")
    for _ in range(3):
        result = run(x)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(4):
        result = run(x)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    assert faults < 100  # a new block of 40 MB has at least 500, in huge pages too
    assert result.flags.writeable and result.sum() == 2 * COUNT


def test_sizes_that_change():
    run = doubling()
    for count in (COUNT, 2 * COUNT, COUNT + 17, COUNT - 5, 9 << 20, 100, COUNT):
        np.testing.assert_array_equal(run(np.full(count, count % 7, "float32")), np.full(count, 2 * (count % 7), "float32"))
