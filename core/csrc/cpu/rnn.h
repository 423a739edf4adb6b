// Loops of recurrent cells over rows of contiguous arrays, compiled once per instruction set.
#pragma once
#include "cpu/isa.h"

namespace trine::cpu {

// Gates [rows, 4 hidden] in the order input, forget, cell, output; the rest [rows, hidden].
template <class T> struct LstmRows {
  const T *gates, *cell, *next_cell, *grad_hidden, *grad_cell;  // from the third on for the backward pass
  T *hidden, *next;                                             // results forward
  T *gates_grad, *cell_grad;                                    // results backward
  int64_t rows, size;
};
// Gates [rows, 3 hidden] in the order reset, update, new.
template <class T> struct GruRows {
  const T *input, *hidden_gates, *hidden, *grad;
  T* next;
  T *input_grad, *hidden_gates_grad, *hidden_grad;
  int64_t rows, size;
};

TRINE_ISA_DECLARE(void, lstm_float, (const LstmRows<float>&, bool backward));
TRINE_ISA_DECLARE(void, lstm_double, (const LstmRows<double>&, bool backward));
TRINE_ISA_DECLARE(void, gru_float, (const GruRows<float>&, bool backward));
TRINE_ISA_DECLARE(void, gru_double, (const GruRows<double>&, bool backward));

inline void run_cell(const LstmRows<float>& r, bool backward) { lstm_float(r, backward); }
inline void run_cell(const LstmRows<double>& r, bool backward) { lstm_double(r, backward); }
inline void run_cell(const GruRows<float>& r, bool backward) { gru_float(r, backward); }
inline void run_cell(const GruRows<double>& r, bool backward) { gru_double(r, backward); }

}  // namespace trine::cpu
