# Fits a line to 13 features.
import paddle_mini as pm
from paddle_mini import layers
from samples import line

train, test = line()
x = layers.data("x", [-1, 13])
y = layers.data("y", [-1, 1])
loss = layers.mean(layers.square_error_cost(layers.fc(x, 1), y))
trainer = pm.Trainer(loss, pm.optimizer.SGD(0.02))
trainer.fit(train, epochs=10)
print(f"test error: {trainer.evaluate(test)['loss']:.4f}")
