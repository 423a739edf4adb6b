"""Siamese network on pairs of small pictures."""

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(1)


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d((3, 3)))
        self.fc = nn.Sequential(nn.Linear(144, 32), nn.ReLU(inplace=True), nn.Linear(32, 1))
        self.sigmoid = nn.Sigmoid()
        self.features.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_uniform_(m.weight, nonlinearity="relu")

    def forward(self, a, b):
        outs = [self.features(x).view(x.size()[0], -1) for x in (a, b)]
        return self.sigmoid(self.fc(torch.cat(outs, 1)))


a = torch.rand(32, 1, 16, 16)
same = (torch.arange(32) % 2).float()
b = torch.where(same.view(-1, 1, 1, 1) > 0, a + 0.05 * torch.randn_like(a), torch.rand_like(a))
model, criterion = SiameseNetwork(), nn.BCELoss()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
for _ in range(20):
    optimizer.zero_grad()
    loss = criterion(model(a, b).squeeze(), same)
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
