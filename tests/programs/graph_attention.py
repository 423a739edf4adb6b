"""Graph attention network on a ring of nodes."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import Adam

torch.manual_seed(13)


class GraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, n_heads):
        super().__init__()
        self.n_heads, self.n_hidden = n_heads, out_features
        self.W = nn.Parameter(torch.empty(size=(in_features, out_features * n_heads)))
        self.a = nn.Parameter(torch.empty(size=(n_heads, 2 * out_features, 1)))
        self.leakyrelu = nn.LeakyReLU(0.2)
        self.softmax = nn.Softmax(dim=1)
        nn.init.xavier_normal_(self.W)
        nn.init.xavier_normal_(self.a)

    def forward(self, h, adj_mat):
        n = h.shape[0]
        h = torch.mm(h, self.W).view(n, self.n_heads, self.n_hidden).permute(1, 0, 2)
        source = torch.matmul(h, self.a[:, : self.n_hidden, :])
        target = torch.matmul(h, self.a[:, self.n_hidden :, :])
        e = self.leakyrelu(source + target.mT)
        e = torch.where(adj_mat > 0, e, -9e16 * torch.ones_like(e))
        attention = F.softmax(e, dim=-1)
        return torch.matmul(attention, h).mean(dim=0)


n = 24
adjacency = torch.eye(n) + torch.roll(torch.eye(n), 1, 0) + torch.roll(torch.eye(n), -1, 0)
features, classes = torch.randn(n, 10), torch.arange(n) // 8
first, second = GraphAttentionLayer(10, 16, 4), GraphAttentionLayer(16, 3, 1)
optimizer = Adam([*first.parameters(), *second.parameters()], lr=0.01, weight_decay=5e-4)
for _ in range(20):
    optimizer.zero_grad()
    output = F.log_softmax(second(F.elu(first(features, adjacency)), adjacency), dim=1)
    loss = F.nll_loss(output, classes)
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
