"""The forward-forward algorithm: every layer learns from its own goodness."""

import torch
import torch.nn as nn
from torch.optim import Adam

torch.manual_seed(1234)


class Layer(nn.Linear):
    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features)
        self.relu = torch.nn.ReLU()
        self.opt = Adam(self.parameters(), lr=0.03)
        self.threshold = 2.0

    def forward(self, x):
        x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(x_direction, self.weight.T) + self.bias.unsqueeze(0))

    def train_step(self, x_pos, x_neg):
        g_pos = self.forward(x_pos).pow(2).mean(1)
        g_neg = self.forward(x_neg).pow(2).mean(1)
        loss = torch.log(1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        print("loss", loss.item())
        return self.forward(x_pos).detach(), self.forward(x_neg).detach()


x_pos = torch.randn(64, 20)
x_neg = x_pos[torch.randperm(64)] * 0.5 + torch.randn(64, 20)
layers = [Layer(20, 32), Layer(32, 32)]
for _ in range(10):
    h_pos, h_neg = x_pos, x_neg
    for layer in layers:
        h_pos, h_neg = layer.train_step(h_pos, h_neg)
