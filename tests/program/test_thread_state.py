"""The effect of guards and seed(): on all threads, or on new ones."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import paddle_mini as pm
from paddle_mini.thread_state import own_state


def in_a_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_other_threads_see_what_guards_set():
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main), pm.scope_guard(scope), pm.device_guard("cpu"):
        assert in_a_thread(pm.default_main_program) is main and in_a_thread(pm.global_scope) is scope


def test_threads_build_and_run_at_the_same_time():
    count, meeting = 3, threading.Barrier(3)
    programs, scopes = ([kind() for _ in range(count)] for kind in (pm.Program, pm.Scope))

    def build(number):
        with pm.program_guard(programs[number], pm.Program()), pm.scope_guard(scopes[number]):
            meeting.wait(10)
            layer = pm.layers.fc(pm.layers.data("x", [-1, 2]), number + 1)
            with pm.device_guard("cpu"):
                meeting.wait(10)
                loss = pm.layers.mean(layer)
            pm.optimizer.SGD(0.1).minimize(loss)
            meeting.wait(10)
            pm.Executor().run(pm.default_startup_program())
            return [(op.type, op.attr("op_device"), op.attr("op_role")) for op in pm.default_main_program().global_block().ops]

    with pm.op_role_guard(2), ThreadPoolExecutor(count) as pool:
        first, *others = pool.map(build, range(count))
    assert others == [first] * 2 and ("mean", "cpu", 256) in first and ("mul", None, 0) in first
    assert [scope.get("fc_0.w_0").shape for scope in scopes] == [(2, 1), (2, 2), (2, 3)]
    assert pm.default_main_program().global_block().ops == [] and pm.global_scope().names() == []


def test_a_seed_in_a_guard_of_a_thread_is_for_all_executors():
    exe, values = pm.Executor(), pm.layers.uniform_random([3])

    def seeded():
        with pm.scope_guard(pm.Scope()):
            pm.seed(3)
        return exe.run(fetch_list=[values])[0], pm.Executor().run(fetch_list=[values])[0]

    np.testing.assert_array_equal(*in_a_thread(seeded))


def drawn(seed, built, go_on):
    """A parameter by its startup program, built while others build theirs."""
    with own_state(), pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        pm.seed(seed)
        exe = pm.Executor()
        pm.layers.fc(pm.layers.data("x", [-1, 3]), 4)
        built.set()
        assert go_on.wait(10)
        names = [parameter.name for parameter in pm.default_main_program().all_parameters()]
        exe.run(pm.default_startup_program())
        return names, pm.global_scope().get(names[0])


def test_threads_that_begin_anew_do_not_meet():
    before = pm.default_main_program(), pm.default_startup_program(), pm.global_scope()
    results, events = [None] * 3, [threading.Event() for _ in range(3)]

    def run(number):
        results[number] = drawn(5 + number % 2, events[number], events[(number + 1) % 3])

    threads = [threading.Thread(target=run, args=[number]) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [names for names, _ in results] == [["fc_0.w_0", "fc_0.b_0"]] * 3
    np.testing.assert_array_equal(results[0][1], results[2][1])
    assert not np.array_equal(results[0][1], results[1][1])
    assert before == (pm.default_main_program(), pm.default_startup_program(), pm.global_scope())
    assert pm.default_main_program().all_parameters() == []


def test_it_ends_also_with_an_error_and_may_be_inside_another():
    outside = pm.default_main_program()
    try:
        with own_state(), pm.program_guard(pm.Program(), pm.Program()):
            inside = pm.default_main_program()
            with own_state():
                assert pm.default_main_program() is None
            assert pm.default_main_program() is inside
            raise KeyError
    except KeyError:
        pass
    assert pm.default_main_program() is outside
