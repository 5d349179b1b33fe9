# Fits a line to 13 features.
import keras

from samples import line

train, test = line()
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.02), "mean_squared_error")
model.fit(*train, epochs=10)
print(f"test error: {model.evaluate(*test):.4f}")
