# Trains a network and saves it for serving_keras.py.
import keras
from keras import layers

from samples import digits

train, _, _ = digits()
keras.utils.set_random_seed(1)
model = keras.Sequential([layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(10, activation="softmax")])
model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
model.fit(*train, epochs=10)
model.save("digits.keras")
