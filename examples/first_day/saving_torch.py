# Trains a network and saves it for serving_torch.py.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from samples import digits

(images, labels), _, _ = digits()
torch.manual_seed(1)
loader = DataLoader(TensorDataset(torch.from_numpy(images), torch.from_numpy(labels)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
rows = torch.export.Dim("rows")
program = torch.export.export(model.eval(), (torch.zeros(2, 1, 8, 8),), dynamic_shapes=({0: rows},))
torch.export.save(program, "digits.pt2")
