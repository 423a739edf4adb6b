// Derivatives of recurrent cells: a kernel where nothing is recorded, operators where the backward pass is differentiated again.
#pragma once
#include "trine/ops.h"

namespace trine::autograd {

std::tuple<Tensor, Tensor> lstm_cell_backward(const Tensor& grad_hidden, const Tensor& grad_cell, const Tensor& gates, const Tensor& cell, const Tensor& next_cell);
std::tuple<Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hidden);

}  // namespace trine::autograd
