"""Layers that need other layers around them: loops, recurrences, arrays, beam search. d: Inputs of layer_cases."""

import numpy as np

import paddle_mini as pm

L = pm.layers


def loop_while(d):
    x, i, n = d(2, 3), L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    total, more = L.fill_constant([2, 3], "float32", 0.0), L.less_than(i, n)
    with L.While(more).block():
        L.assign(L.elementwise_add(total, x), output=total)
        L.increment(i)
        L.assign(L.less_than(i, n), output=more)
    return [total]


def conditional_block(d):
    x, out = d(2, 3), L.fill_constant([2, 3], "float32", 0.0)
    with L.ConditionalBlock(L.reduce_sum(x) > 0.0).block():
        L.assign(L.scale(x, scale=2.0), output=out)
    return [out]


def static_rnn(d):
    x = d(4, 2, 3)
    rnn = L.StaticRNN()
    with rnn.step():
        step, before = rnn.step_input(x), rnn.memory(shape=[-1, 3], batch_ref=x, init_value=0.0, ref_batch_dim_idx=1)
        state = L.tanh(L.elementwise_add(step, before))
        rnn.update_memory(before, state)
        rnn.step_output(state)
    return [rnn()]


def count(value, dtype="int64"):
    return L.fill_constant([1], dtype, value)


def array(d):
    made = L.array_write(d(2, 3), count(0))
    return L.array_write(d(2, 3), count(1), made)


def weight(name, *shape):
    return L.create_parameter(list(shape), name=name)


def crf(d):
    emission = d(5, 3, lod=[[0, 2, 5]])
    return emission, L.linear_chain_crf(emission, d.ints(5, 1, lod=[[0, 2, 5]]), param_attr="crf")


def beam_step(d):
    pre_ids = d.given(np.array([[1], [2]]), lod=[[0, 1, 2], [0, 1, 2]])
    pre_scores = d.given(np.float32([[0.1], [0.2]]), lod=[[0, 1, 2], [0, 1, 2]])
    ids, scores = d.given(np.array([[3, 4], [5, 6]]), lod=[[0, 1, 2], [0, 1, 2]]), d(2, 2, lod=[[0, 1, 2], [0, 1, 2]])
    return L.beam_search(pre_ids, pre_scores, ids, scores, beam_size=2, end_id=0)


def beam_decode(d):
    ids, scores = L.create_array("int64"), L.create_array("float32")
    for step, (chosen, score) in enumerate([beam_step(d)]):
        L.array_write(chosen, count(step), ids)
        L.array_write(score, count(step), scores)
    return L.beam_search_decode(ids, scores, beam_size=2, end_id=0)


def decoded(d):
    cell = L.GRUCell(4)
    decoder = L.BeamSearchDecoder(
        cell,
        1,
        2,
        2,
        lambda ids: L.embedding(ids, [6, 4], param_attr="words"),
        lambda x: L.fc(x, 6, param_attr="out", bias_attr=False),
    )
    ids, lengths = L.dynamic_decode(decoder, d(3, 4), max_step_num=4)
    return [ids, lengths]
