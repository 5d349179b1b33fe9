# Trains a network and saves it for serving.py.
import paddle_mini as pm
from paddle_mini import layers
from samples import digits

train, _, _ = digits()
image = layers.data("image", [-1, 1, 8, 8])
label = layers.data("label", [-1, 1], dtype="int64")
predicted = layers.fc(layers.fc(image, 64, act="relu"), 10, act="softmax")
pm.seed(1)
pm.fit(layers.mean(layers.cross_entropy(predicted, label)), train, pm.optimizer.Adam(0.01), epochs=10)
pm.io.save_inference_model("digits", [image], [predicted])
