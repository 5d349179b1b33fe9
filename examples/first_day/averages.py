# Trains on digits of which a third have wrong labels; evaluates the last parameters, and their average.
import paddle_mini as pm
from paddle_mini import layers
from samples import digits

train, _, test = digits(wrong_labels=0.33)
image = layers.data("image", [-1, 1, 8, 8])
label = layers.data("label", [-1, 1], dtype="int64")
predicted = layers.fc(layers.fc(image, 64, act="relu"), 10, act="softmax")
loss = layers.mean(layers.cross_entropy(predicted, label))
accuracy = layers.accuracy(predicted, label)

pm.seed(1)
trainer = pm.Trainer(loss, pm.optimizer.SGD(0.3), {"accuracy": accuracy}, averaging=pm.averaging.Exponential(0.99))
trainer.fit(train, epochs=15, validation=test)
print(f"last parameters, test accuracy: {trainer.evaluate(test)['accuracy']:.4f}")
print(f"averaged parameters, test accuracy: {trainer.evaluate(test, average=True)['accuracy']:.4f}")
