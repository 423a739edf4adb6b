// Recurrent layers. Sequences, padded or packed, are rows in the order of time: step t has batch_sizes[t] of them, never more than the
// step before, so that the rows of a step belong to the first sequences of the batch.
#include "composite/helpers.h"
#include "dispatch/tensor_operators.h"
#include "trine/kernels.h"

namespace trine::composite {
namespace {

struct State {
  Tensor hidden, cell;
};

// Weights of one layer in one direction.
struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

struct Options {
  std::string_view kind;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

// What the inputs of all steps contribute: one product. A bias of the hidden state that is only added joins it here.
Tensor input_gates(std::string_view kind, const Tensor& rows, const Weights& w) {
  return linear(rows, w.w_ih, kind == "gru" || !w.b_hh.defined() ? w.b_ih : w.b_ih + w.b_hh);
}

// The cells as operators, for complex numbers, which the kernels do not know.
std::pair<Tensor, Tensor> lstm_of_operators(const Tensor& gates, const Tensor& cell) {
  std::vector<Tensor> g = trine::chunk(gates, 4, 1);
  Tensor next = sigmoid(g[1]) * cell + sigmoid(g[0]) * tanh(g[2]);
  return {sigmoid(g[3]) * tanh(next), next};
}
Tensor gru_of_operators(const Tensor& input, const Tensor& hidden, const Tensor& state) {
  std::vector<Tensor> x = trine::chunk(input, 3, 1), y = trine::chunk(hidden, 3, 1);
  Tensor z = sigmoid(x[1] + y[1]), fresh = tanh(x[2] + sigmoid(x[0] + y[0]) * y[2]);
  return fresh + z * (state - fresh);
}

// Within an autocast region gates are shorter than the state, which keeps its type.
Tensor as_state(const Tensor& gates, const Tensor& state) {
  const bool shorter = gates.dtype() == DType::BFloat16 || gates.dtype() == DType::Half;
  return shorter && state.dtype() == DType::Float ? trine::to(gates, DType::Float) : gates;
}

State step(std::string_view kind, const Tensor& gates, const State& s, const Weights& w, const Tensor& w_hh_t) {
  if (kind == "lstm") {
    Tensor sum = as_state(addmm(gates, s.hidden, w_hh_t), s.cell), hidden, cell;
    if (sum.is_complex()) std::tie(hidden, cell) = lstm_of_operators(sum, s.cell);
    else std::tie(hidden, cell) = _lstm_cell(sum, s.cell);
    return {w.w_hr.defined() ? linear(hidden, w.w_hr) : hidden, cell};
  }
  if (kind == "gru") {
    Tensor of_hidden = as_state(linear(s.hidden, w.w_hh, w.b_hh), s.hidden), of_input = as_state(gates, s.hidden);
    return {gates.is_complex() ? gru_of_operators(of_input, of_hidden, s.hidden) : _gru_cell(of_input, of_hidden, s.hidden), Tensor()};
  }
  Tensor sum = addmm(gates, s.hidden, w_hh_t);
  return {kind == "rnn_tanh" ? tanh(sum) : relu(sum), Tensor()};
}

// Rows of the batch that take no part in a step keep their state.
Tensor with_rest(const Tensor& moved, const Tensor& before) {
  const int64_t n = moved.sizes()[0], all = before.sizes()[0];
  if (n == all) return moved;
  const std::vector<Tensor> parts{moved, trine::narrow(before, 0, n, all - n)};
  return cat(parts, 0);
}

std::pair<Tensor, State> run_direction(const Options& o, const Tensor& rows, DimsRef batch_sizes, State state, const Weights& w, bool reverse) {
  Tensor gates = input_gates(o.kind, rows, w), w_hh_t = trine::transpose(w.w_hh, 0, 1);
  std::vector<Tensor> at = trine::split(gates, batch_sizes, 0), out(at.size());
  const int64_t steps = static_cast<int64_t>(at.size());
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = reverse ? steps - 1 - i : i, n = batch_sizes[t];
    const bool whole = n == state.hidden.sizes()[0];
    State now = whole ? state : State{trine::narrow(state.hidden, 0, 0, n), state.cell.defined() ? trine::narrow(state.cell, 0, 0, n) : Tensor()};
    State next = step(o.kind, at[t], now, w, w_hh_t);
    out[t] = next.hidden;
    state = whole ? next : State{with_rest(next.hidden, state.hidden), next.cell.defined() ? with_rest(next.cell, state.cell) : Tensor()};
  }
  return {cat(out, 0), state};
}

// Layers one over the other; states [layers * directions, batch, size].
std::pair<Tensor, State> run_layers(const Options& o, Tensor rows, DimsRef batch_sizes, const State& initial, TensorList params) {
  const int64_t directions = o.bidirectional ? 2 : 1, cells = o.num_layers * directions;
  TRINE_CHECK(o.num_layers > 0 && static_cast<int64_t>(params.size()) % cells == 0, o.kind, ": ", params.size(), " parameters do not fit ", o.num_layers, " layers and ", directions, " directions");
  const int64_t each = static_cast<int64_t>(params.size()) / cells, usual = o.has_biases ? 4 : 2;
  TRINE_CHECK(each == usual || (each == usual + 1 && o.kind == "lstm"), o.kind, ": expected ", usual, " parameters for each layer and direction, got ", each);
  TRINE_CHECK(initial.hidden.dim() == 3 && initial.hidden.sizes()[0] == cells, o.kind, ": expected hidden states of shape [", cells, ", batch, size], got ", initial.hidden.sizes());
  TRINE_CHECK(!batch_sizes.empty(), o.kind, ": Expected sequence length to be larger than 0 in RNN");
  std::vector<Tensor> hidden = unbind(initial.hidden), cell = initial.cell.defined() ? unbind(initial.cell) : std::vector<Tensor>(), last_hidden, last_cell;
  for (int64_t layer = 0; layer < o.num_layers; ++layer) {
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      const size_t c = static_cast<size_t>(layer * directions + d);
      const Tensor* p = &params[c * static_cast<size_t>(each)];
      Weights w{p[0], p[1], o.has_biases ? p[2] : Tensor(), o.has_biases ? p[3] : Tensor(), each == usual + 1 ? p[usual] : Tensor()};
      auto [out, state] = run_direction(o, rows, batch_sizes, {hidden[c], cell.empty() ? Tensor() : cell[c]}, w, d == 1);
      outputs.push_back(out);
      last_hidden.push_back(state.hidden);
      if (state.cell.defined()) last_cell.push_back(state.cell);
    }
    rows = directions == 1 ? outputs[0] : cat(outputs, -1);
    if (o.train && o.dropout > 0 && layer + 1 < o.num_layers) rows = trine::dropout(rows, o.dropout, true);
  }
  return {rows, {trine::stack(last_hidden), last_cell.empty() ? Tensor() : trine::stack(last_cell)}};
}

std::pair<Tensor, State> run_padded(const Options& o, const Tensor& input, const State& initial, TensorList params, bool batch_first) {
  TRINE_CHECK(input.dim() == 3, o.kind, ": expected input of 3 dimensions, got shape ", input.sizes());
  Tensor x = batch_first ? trine::transpose(input, 0, 1) : input;
  const int64_t steps = x.sizes()[0], batch = x.sizes()[1];
  const Dims sizes(static_cast<size_t>(steps), batch);
  auto [rows, state] = run_layers(o, trine::reshape(x, Dims{steps * batch, x.sizes()[2]}), sizes, initial, params);
  Tensor out = trine::reshape(rows, Dims{steps, batch, rows.sizes()[1]});
  return {batch_first ? trine::transpose(out, 0, 1) : out, state};
}

std::pair<Tensor, State> run_packed(const Options& o, const Tensor& data, const Tensor& batch_sizes, const State& initial, TensorList params) {
  TRINE_CHECK(batch_sizes.dim() == 1 && batch_sizes.dtype() == DType::Int64, o.kind, ": batch_sizes must be a vector of int64, got ", name(batch_sizes.dtype()), " of shape ", batch_sizes.sizes());
  Tensor sizes = trine::contiguous(batch_sizes);
  return run_layers(o, data, DimsRef(sizes.data<int64_t>(), static_cast<size_t>(sizes.numel())), initial, params);
}

State pair_of(const char* op, TensorList hx) {
  TRINE_CHECK(hx.size() == 2, op, ": expects two hidden states, got ", hx.size());
  return {hx[0], hx[1]};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_padded(const Tensor& input, TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  auto [out, state] = run_padded({"lstm", has_biases, num_layers, dropout, train, bidirectional}, input, pair_of("lstm", hx), params, batch_first);
  return {out, state.hidden, state.cell};
}

std::tuple<Tensor, Tensor, Tensor> lstm_packed(const Tensor& data, const Tensor& batch_sizes, TensorList hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  auto [out, state] = run_packed({"lstm", has_biases, num_layers, dropout, train, bidirectional}, data, batch_sizes, pair_of("lstm", hx), params);
  return {out, state.hidden, state.cell};
}

std::tuple<Tensor, Tensor> padded_rnn(const char* kind, const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  auto [out, state] = run_padded({kind, has_biases, num_layers, dropout, train, bidirectional}, input, {hx, Tensor()}, params, batch_first);
  return {out, state.hidden};
}

std::tuple<Tensor, Tensor> packed_rnn(const char* kind, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {
  auto [out, state] = run_packed({kind, has_biases, num_layers, dropout, train, bidirectional}, data, batch_sizes, {hx, Tensor()}, params);
  return {out, state.hidden};
}

std::tuple<Tensor, Tensor> lstm_cell_step(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const Weights w{w_ih, w_hh, b_ih, b_hh, Tensor()};
  State next = step("lstm", input_gates("lstm", input, w), pair_of("lstm_cell", hx), w, trine::transpose(w_hh, 0, 1));
  return {next.hidden, next.cell};
}

Tensor rnn_cell_step(const char* kind, const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  const Weights w{w_ih, w_hh, b_ih, b_hh, Tensor()};
  return step(kind, input_gates(kind, input, w), {hx, Tensor()}, w, trine::transpose(w_hh, 0, 1)).hidden;
}

}  // namespace trine::composite
