// Recurrent networks of one state, by kind: "gru", "rnn_tanh", "rnn_relu".
#pragma once
#include "trine/ops.h"

namespace trine::composite {

std::tuple<Tensor, Tensor> padded_rnn(const char* kind, const Tensor& input, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first);
std::tuple<Tensor, Tensor> packed_rnn(const char* kind, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, TensorList params, bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional);
Tensor rnn_cell_step(const char* kind, const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh);

}  // namespace trine::composite
