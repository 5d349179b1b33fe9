# A convolutional network with validation, early stopping, checkpoints from which it resumes, and averaged parameters.
import keras
from keras import layers

from samples import digits

train, validation, test = digits()
keras.utils.set_random_seed(1)
model = keras.Sequential(
    [
        layers.Conv2D(16, 3, activation="relu", data_format="channels_first"),
        layers.MaxPooling2D(data_format="channels_first"),
        layers.Flatten(),
        layers.Dense(10, activation="softmax"),
    ]
)
optimizer = keras.optimizers.Adam(0.03, use_ema=True, ema_momentum=0.99)
model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
callbacks = [
    keras.callbacks.BackupAndRestore("digits-backup"),  # first: it must save the parameters that are trained
    keras.callbacks.SwapEMAWeights(swap_on_epoch=True),
    keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True),
]
model.fit(*train, epochs=40, validation_data=validation, callbacks=callbacks)
print(f"test accuracy: {model.evaluate(*test)[1]:.4f}")
