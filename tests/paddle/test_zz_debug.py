import numpy as np, pytest
import paddle_mini as pm
from paddle_mini import layers
def test_dbg(paddle, tmp_path):
    ids = layers.data("ids", [-1, 7], dtype="int64")
    label = layers.data("label", [-1, 1], dtype="int64")
    mask = layers.padding_mask(ids)
    x = layers.add_sinusoid_positions(layers.embedding(ids, [20, 16]), 10)
    x = layers.transformer_encoder_layer(x, 4, 32, dropout_rate=0.0, act="gelu", attn_mask=mask)
    logits = layers.fc(layers.reduce_mean(x, dim=1), 3)
    loss = layers.mean(layers.softmax_with_cross_entropy(logits, label))
    main=pm.default_main_program()
    fwd=[op.output_names[-1 if op.type=="softmax_with_cross_entropy" else 0] for op in main.global_block().ops]
    pm.optimizer.SGD(0.003).minimize(loss)
    exe=pm.Executor(); exe.run(pm.default_startup_program())
    s=np.random.RandomState(0).randint(1,20,(6,7)); s[:3,5:]=0
    lab=np.random.RandomState(0).randint(0,3,(6,1))
    (tmp_path/"main.pb").write_bytes(main.to_bytes())
    init=pm.io.get_state(main, pm.global_scope())
    np.savez(tmp_path/"init.npz", **init)
    np.savez(tmp_path/"feeds.npz", **{"0/ids": s,"0/label":lab})
    for names in ([loss.name], fwd, fwd[-2:], fwd[::3], [fwd[-4]],[fwd[-5]], [fwd[-9]]):
        paddle.ask("train", tmp_path, fetch=names, steps=1)
        sc=pm.Scope()
        for k,v in init.items(): sc.set(k,v)
        ours=exe.run(main,{"ids":s,"label":lab},names,sc)
        with np.load(tmp_path/"results.npz") as t: print(len(names), names[-1], ours[-1].ravel()[:3], t[f"0/{names[-1]}"].ravel()[:3])
