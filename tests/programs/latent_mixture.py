"""A variational autoencoder with a normal and a Dirichlet latent variable, and a mixture fitted by gradients."""

import torch
from torch import nn, optim
from torch.distributions import Bernoulli, Categorical, Dirichlet, MixtureSameFamily, Normal, kl_divergence
from torch.distributions.constraint_registry import transform_to

torch.manual_seed(1)
data = (torch.rand(64, 49) > 0.6).float()


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(49, 32), nn.Tanh())
        self.mean, self.log_scale, self.concentration = nn.Linear(32, 4), nn.Linear(32, 4), nn.Linear(32, 3)
        self.decoder = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 49))

    def forward(self, x):
        h = self.encoder(x)
        normal = Normal(self.mean(h), self.log_scale(h).exp())
        shares = Dirichlet(transform_to(Dirichlet.arg_constraints["concentration"])(self.concentration(h)) + 0.5)
        z = torch.cat([normal.rsample(), shares.rsample()], -1)
        likelihood = Bernoulli(logits=self.decoder(z)).log_prob(x).sum(-1)
        divergence = kl_divergence(normal, Normal(0.0, 1.0)).sum(-1) + kl_divergence(shares, Dirichlet(torch.ones(3)))
        return -(likelihood - divergence).mean()


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=3e-3)
for _step in range(15):
    optimizer.zero_grad()
    loss = model(data)
    loss.backward()
    optimizer.step()
    print("elbo", loss.item())

points = MixtureSameFamily(Categorical(torch.tensor([0.3, 0.7])), Normal(torch.tensor([-2.0, 1.0]), torch.tensor([0.5, 1.0]))).sample(
    (400,)
)
weights, locs, scales = (nn.Parameter(v) for v in (torch.zeros(2), torch.tensor([-1.0, 0.5]), torch.zeros(2)))
optimizer = optim.Adam([weights, locs, scales], lr=0.1)
for _step in range(30):
    optimizer.zero_grad()
    loss = -MixtureSameFamily(Categorical(logits=weights), Normal(locs, scales.exp())).log_prob(points).mean()
    loss.backward()
    optimizer.step()
    print("mixture", loss.item())
