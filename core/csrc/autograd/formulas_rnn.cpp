#include "autograd/formulas_rnn.h"

#include "autograd/record.h"
#include "dispatch/tensor_operators.h"

namespace trine::autograd {
namespace {

Tensor one_minus(const Tensor& t) { return Scalar(1.0) - t; }
Tensor joined(std::vector<Tensor> parts) { return cat(parts, 1); }

}  // namespace

std::tuple<Tensor, Tensor> lstm_cell_backward(const Tensor& grad_hidden, const Tensor& grad_cell, const Tensor& gates, const Tensor& cell, const Tensor& next_cell) {
  if (!recording()) return _lstm_cell_backward(grad_hidden, grad_cell, gates, cell, next_cell);
  std::vector<Tensor> part = chunk(gates, 4, 1);
  Tensor i = sigmoid(part[0]), f = sigmoid(part[1]), u = tanh(part[2]), o = sigmoid(part[3]), t = tanh(next_cell);
  Tensor d = grad_cell + grad_hidden * o * one_minus(t * t);
  return {joined({d * u * i * one_minus(i), d * cell * f * one_minus(f), d * i * one_minus(u * u), grad_hidden * t * o * one_minus(o)}), d * f};
}

std::tuple<Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hidden) {
  if (!recording()) return _gru_cell_backward(grad, input_gates, hidden_gates, hidden);
  std::vector<Tensor> x = chunk(input_gates, 3, 1), y = chunk(hidden_gates, 3, 1);
  Tensor r = sigmoid(x[0] + y[0]), z = sigmoid(x[1] + y[1]), u = tanh(x[2] + r * y[2]);
  Tensor du = grad * one_minus(z) * one_minus(u * u), dr = du * y[2] * r * one_minus(r), dz = grad * (hidden - u) * z * one_minus(z);
  return {joined({dr, dz, du}), joined({dr, dz, du * r}), grad * z};
}

}  // namespace trine::autograd
