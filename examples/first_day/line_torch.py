# Fits a line to 13 features.
import torch
from torch.utils.data import DataLoader, TensorDataset

from samples import line

train, test = (TensorDataset(torch.from_numpy(x), torch.from_numpy(y)) for x, y in line())
model = torch.nn.Linear(13, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
loader = DataLoader(train, batch_size=32, shuffle=True)
for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
with torch.no_grad():
    x, y = test.tensors
    print(f"test error: {torch.nn.functional.mse_loss(model(x), y).item():.4f}")
