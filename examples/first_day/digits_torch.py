# A convolutional network with validation, early stopping, checkpoints from which it resumes, and averaged parameters.
import copy
import math
import os

import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset

from samples import digits

CHECKPOINT = "digits.pt"


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, right = 0.0, 0
    for images, labels in loader:
        logits = model(images)
        loss += cross_entropy(logits, labels, reduction="sum").item()
        right += (logits.argmax(1) == labels).sum().item()
    return loss / len(loader.dataset), right / len(loader.dataset)


torch.manual_seed(1)
train, validation, test = (
    DataLoader(TensorDataset(torch.from_numpy(images), torch.from_numpy(labels)), batch_size=32, shuffle=part == 0)
    for part, (images, labels) in enumerate(digits())
)
model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 3 * 3, 10))
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
first, best, best_loss, waited = 0, None, math.inf, 0
if os.path.exists(CHECKPOINT):
    state = torch.load(CHECKPOINT)
    model.load_state_dict(state["model"])
    average.load_state_dict(state["average"])
    optimizer.load_state_dict(state["optimizer"])
    torch.set_rng_state(state["random"])
    first, best, best_loss, waited = state["progress"]

for epoch in range(first, 40):
    if waited == 3:
        break
    model.train()
    for images, labels in train:
        optimizer.zero_grad()
        loss = cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
    (value, accuracy), (average_value, average_accuracy) = evaluate(model, validation), evaluate(average, validation)
    print(f"epoch {epoch + 1}: validation {value:.4f} {accuracy:.4f}, averaged {average_value:.4f} {average_accuracy:.4f}")
    if average_value < best_loss:
        best, best_loss, waited = copy.deepcopy(average.state_dict()), average_value, 0
    else:
        waited += 1
    state = {"model": model.state_dict(), "average": average.state_dict(), "optimizer": optimizer.state_dict()}
    state |= {"random": torch.get_rng_state(), "progress": (epoch + 1, best, best_loss, waited)}
    torch.save(state, CHECKPOINT)

average.load_state_dict(best)
print(f"test accuracy: {evaluate(average, test)[1]:.4f}")
