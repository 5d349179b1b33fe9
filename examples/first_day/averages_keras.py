# Trains on digits of which a third have wrong labels; evaluates the last parameters, and their average.
import keras
from keras import layers

from samples import digits

train, _, test = digits(wrong_labels=0.33)
keras.utils.set_random_seed(1)
model = keras.Sequential([layers.Flatten(), layers.Dense(64, activation="relu"), layers.Dense(10, activation="softmax")])
optimizer = keras.optimizers.SGD(0.3, use_ema=True, ema_momentum=0.99)
model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(*train, epochs=15, validation_data=test).history  # at its end fit replaces parameters by averages
print(f"last parameters, test accuracy: {history['val_accuracy'][-1]:.4f}")
print(f"averaged parameters, test accuracy: {model.evaluate(*test)[1]:.4f}")
