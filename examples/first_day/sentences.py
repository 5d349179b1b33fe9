# Classifies sentences of any length with an LSTM.
import paddle_mini as pm
from paddle_mini import layers
from samples import WORDS, sentences

train, test = sentences()
words = layers.data("words", [-1], dtype="int64", lod_level=1)
label = layers.data("label", [-1, 1], dtype="int64")
gates = layers.fc(layers.embedding(words, [WORDS, 32]), 4 * 32)
state, _ = layers.dynamic_lstm(gates, 4 * 32)
predicted = layers.fc(layers.sequence_last_step(state), 2, act="softmax")
loss = layers.mean(layers.cross_entropy(predicted, label))
accuracy = layers.accuracy(predicted, label)

pm.seed(1)
trainer = pm.Trainer(loss, pm.optimizer.Adam(0.01), {"accuracy": accuracy})
trainer.fit(pm.data.Loader(train).shuffle(seed=1), epochs=6)
print(f"test accuracy: {trainer.evaluate(pm.data.Loader(test))['accuracy']:.4f}")
