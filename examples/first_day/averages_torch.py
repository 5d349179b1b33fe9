# Trains on digits of which a third have wrong labels; evaluates the last parameters, and their average.
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

from samples import digits


@torch.no_grad()
def accuracy(model, images, labels):
    return (model(images).argmax(1) == labels).float().mean().item()


torch.manual_seed(1)
train, _, test = (TensorDataset(torch.from_numpy(x), torch.from_numpy(y)) for x, y in digits(wrong_labels=0.33))
loader = DataLoader(train, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(15):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
print(f"last parameters, test accuracy: {accuracy(model, *test.tensors):.4f}")
print(f"averaged parameters, test accuracy: {accuracy(average, *test.tensors):.4f}")
