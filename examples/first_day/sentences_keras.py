# Classifies sentences of any length with an LSTM.
import keras
import numpy as np
from keras import layers

from samples import WORDS, sentences

train, test = (
    (keras.utils.pad_sequences([words for words, _ in samples], padding="post"), np.array([label for _, label in samples]))
    for samples in sentences()
)
keras.utils.set_random_seed(1)
model = keras.Sequential([layers.Embedding(WORDS, 32, mask_zero=True), layers.LSTM(32), layers.Dense(2, activation="softmax")])
model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(*train, epochs=6)
print(f"test accuracy: {model.evaluate(*test)[1]:.4f}")
