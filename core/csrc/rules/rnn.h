// Shapes of recurrent cells: gates [batch, 4 or 3 x hidden], states [batch, hidden].
#pragma once
#include "dispatch/structured.h"

namespace trine::rules {

inline void check_gates(const char* op, const Tensor& gates, const Tensor& state, int64_t count) {
  TRINE_CHECK(gates.dim() == 2 && state.dim() == 2 && gates.sizes()[0] == state.sizes()[0] && gates.sizes()[1] == count * state.sizes()[1], op, ": expected gates of shape [batch, ", count,
              " * hidden] for a state of shape ", state.sizes(), ", got ", gates.sizes());
  TRINE_CHECK(is_floating(gates.dtype()) && gates.dtype() == state.dtype(), op, ": expected gates and state of one floating-point type, got ", name(gates.dtype()), " and ", name(state.dtype()));
}

inline std::array<TensorSpec, 2> lstm_cell_spec(const Tensor& gates, const Tensor& cell) {
  check_gates("lstm_cell", gates, cell, 4);
  return {TensorSpec{cell.sizes(), cell.dtype()}, TensorSpec{cell.sizes(), cell.dtype()}};
}
inline std::array<TensorSpec, 2> lstm_cell_backward_spec(const Tensor& gates, const Tensor& cell) {
  return {TensorSpec{gates.sizes(), gates.dtype()}, TensorSpec{cell.sizes(), cell.dtype()}};
}
inline TensorSpec gru_cell_spec(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hidden) {
  check_gates("gru_cell", input_gates, hidden, 3);
  check_gates("gru_cell", hidden_gates, hidden, 3);
  return {hidden.sizes(), hidden.dtype()};
}
inline std::array<TensorSpec, 3> gru_cell_backward_spec(const Tensor& input_gates, const Tensor& hidden) {
  return {TensorSpec{input_gates.sizes(), hidden.dtype()}, TensorSpec{input_gates.sizes(), hidden.dtype()}, TensorSpec{hidden.sizes(), hidden.dtype()}};
}

}  // namespace trine::rules
