"""Word-level LSTM language model with truncated backpropagation through time."""

import torch
import torch.nn as nn

torch.manual_seed(1111)
words = ["a", "b", "c", "d", "e", "f", "g", "a", "c", "e", "g", "b", "d", "f", "a", "d", "g", "c", "f", "b", "e"] * 40
vocabulary = {w: i for i, w in enumerate(dict.fromkeys(words))}
ids = torch.tensor([vocabulary[w] for w in words]).type(torch.int64)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers):
        super().__init__()
        self.ntoken, self.nhid, self.nlayers = ntoken, nhid, nlayers
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        decoded = self.decoder(output).view(-1, self.ntoken)
        return nn.functional.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))


source, bptt, lr = batchify(ids, 8), 5, 5.0
model, criterion = RNNModel(len(vocabulary), 16, 24, 2), nn.NLLLoss()
hidden = model.init_hidden(8)
for i in range(0, source.size(0) - 1, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    data, targets = source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].view(-1)
    model.zero_grad()
    hidden = tuple(h.detach() for h in hidden)
    output, hidden = model(data, hidden)
    loss = criterion(output, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-lr)
    print("loss", loss.item())
