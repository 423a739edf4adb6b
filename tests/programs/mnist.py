"""Digit classifier: two convolutions, dropout-free so that figures compare, Adadelta and a step schedule."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
labels = torch.arange(128) % 10
images = torch.rand(128, 1, 28, 28) * 0.3
for i, label in enumerate(labels.tolist()):
    images[i, 0, 2 * label : 2 * label + 6, 4:24] += 0.7


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, 1)
        self.conv2 = nn.Conv2d(8, 16, 3, 1)
        self.fc1 = nn.Linear(2304, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = optim.Adadelta(model.parameters(), lr=1.0)
scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)
for _ in range(3):
    model.train()
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
    scheduler.step()
model.eval()
with torch.no_grad():
    pred = model(images).argmax(dim=1, keepdim=True)
    print("accuracy", pred.eq(labels.view_as(pred)).sum().item() / 128)
