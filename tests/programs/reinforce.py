"""Actor-critic on a walk along a line, written with tensors only: the goal is at the right end."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(543)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(6, 32)
        self.action_head = nn.Linear(32, 2)
        self.value_head = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


model = Policy()
optimizer = optim.Adam(model.parameters(), lr=3e-2)
for _ in range(20):
    position, log_probs, values, rewards = 2, [], [], []
    for _ in range(12):
        probs, value = model(F.one_hot(torch.tensor(position), 6).float())
        action = torch.multinomial(probs.detach(), 1).item()
        log_probs.append(torch.log(probs[action]))
        values.append(value)
        position = max(0, min(5, position + (1 if action else -1)))
        rewards.append(1.0 if position == 5 else -0.1)
        if position == 5:
            break
    R, returns = 0, []
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std(unbiased=False) + 1e-5)
    policy_losses, value_losses = [], []
    for log_prob, value, R in zip(log_probs, values, returns, strict=True):
        policy_losses.append(-log_prob * (R - value.item()))
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
