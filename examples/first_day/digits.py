# A convolutional network with validation, early stopping, checkpoints from which it resumes, and averaged parameters.
import paddle_mini as pm
from paddle_mini import layers, nets
from samples import digits

train, validation, test = digits()
image = layers.data("image", [-1, 1, 8, 8])
label = layers.data("label", [-1, 1], dtype="int64")
hidden = nets.simple_img_conv_pool(image, num_filters=16, filter_size=3, pool_size=2, pool_stride=2, act="relu")
predicted = layers.fc(hidden, 10, act="softmax")
loss = layers.mean(layers.cross_entropy(predicted, label))
accuracy = layers.accuracy(predicted, label)

pm.seed(1)
trainer = pm.Trainer(loss, pm.optimizer.Adam(0.03), {"accuracy": accuracy}, averaging=pm.averaging.Exponential(0.99))
trainer.fit(
    train,
    epochs=40,
    validation=validation,
    callbacks=[pm.training.EarlyStopping("averaged_val_loss", patience=3, restore_best=True)],
    checkpoints="digits-checkpoints",
)
print(f"test accuracy: {trainer.evaluate(test, average=True)['accuracy']:.4f}")
