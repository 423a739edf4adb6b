"""Actor-critic with distributions: discrete actions of a policy, continuous ones squashed by tanh, and an entropy bonus."""

import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical, Independent, Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform

torch.manual_seed(543)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU())
        self.action_head = nn.Linear(32, 3)
        self.force_head = nn.Linear(32, 2)
        self.log_scale = nn.Parameter(torch.zeros(2))
        self.value_head = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        force = Independent(Normal(self.force_head(h), self.log_scale.exp()), 1)
        return Categorical(logits=self.action_head(h)), force, self.value_head(h)


model = Policy()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
for _episode in range(15):
    state = torch.randn(16, 4)
    choice, force, value = model(state)
    action = choice.sample()
    squashed = TransformedDistribution(force, [TanhTransform(cache_size=1)])
    push = squashed.sample()
    reward = (action == state[:, :3].argmax(-1)).float() - (push - state[:, :2].tanh()).pow(2).sum(-1)
    advantage = reward - value.squeeze(-1)
    log_prob = choice.log_prob(action) + squashed.log_prob(push)
    loss = (-log_prob * advantage.detach()).mean() + advantage.pow(2).mean() - 0.01 * (choice.entropy() + force.entropy()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
print("sample", *choice.sample((3,))[:, 0].tolist())
