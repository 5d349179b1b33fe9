# Classifies sentences of any length with an LSTM.
import torch
from torch import nn
from torch.nn.utils.rnn import pack_sequence
from torch.utils.data import DataLoader

from samples import WORDS, sentences


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 32)
        self.lstm = nn.LSTM(32, 32)
        self.output = nn.Linear(32, 2)

    def forward(self, words):
        vectors = words._replace(data=self.embedding(words.data))
        _, (last, _) = self.lstm(vectors)
        return self.output(last[0])


def collate(samples):
    words, labels = zip(*samples)
    return pack_sequence([torch.tensor(ids) for ids in words], enforce_sorted=False), torch.tensor(labels)


torch.manual_seed(1)
train, test = sentences()
loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for words, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(words), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
with torch.no_grad():
    words, labels = collate(test)
    print(f"test accuracy: {(model(words).argmax(1) == labels).float().mean().item():.4f}")
