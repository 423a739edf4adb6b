// Recurrent cells. 16-bit numbers are computed in float.
#include "cpu/rnn.h"

#include "cpu/dense.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(lstm_float);
TRINE_ISA_TABLE(lstm_double);
TRINE_ISA_TABLE(gru_float);
TRINE_ISA_TABLE(gru_double);

void lstm_cell(Tensor& hidden, Tensor& next_cell, const Tensor& gates, const Tensor& cell) {
  const DType t = compute_type(gates.dtype());
  Tensor g = plain(converted(gates, t)), c = plain(converted(cell, t));
  DenseOutput h(hidden, t), next(next_cell, t);
  TRINE_DISPATCH_FLOAT(t, "lstm_cell", {
    LstmRows<scalar_t> r{};
    r.gates = g.data<scalar_t>(), r.cell = c.data<scalar_t>(), r.hidden = h.data<scalar_t>(), r.next = next.data<scalar_t>();
    r.rows = cell.sizes()[0], r.size = cell.sizes()[1];
    run_cell(r, false);
  });
  h.finish();
  next.finish();
}

void lstm_cell_backward(Tensor& gates_grad, Tensor& cell_grad, const Tensor& grad_hidden, const Tensor& grad_cell, const Tensor& gates, const Tensor& cell, const Tensor& next_cell) {
  const DType t = compute_type(gates.dtype());
  Tensor g = plain(converted(gates, t)), c = plain(converted(cell, t)), n = plain(converted(next_cell, t)), dh = plain(converted(grad_hidden, t)), dn = plain(converted(grad_cell, t));
  DenseOutput dg(gates_grad, t), dc(cell_grad, t);
  TRINE_DISPATCH_FLOAT(t, "lstm_cell", {
    LstmRows<scalar_t> r{};
    r.gates = g.data<scalar_t>(), r.cell = c.data<scalar_t>(), r.next_cell = n.data<scalar_t>(), r.grad_hidden = dh.data<scalar_t>(), r.grad_cell = dn.data<scalar_t>();
    r.gates_grad = dg.data<scalar_t>(), r.cell_grad = dc.data<scalar_t>();
    r.rows = cell.sizes()[0], r.size = cell.sizes()[1];
    run_cell(r, true);
  });
  dg.finish();
  dc.finish();
}

void gru_cell(Tensor& out, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hidden) {
  const DType t = compute_type(hidden.dtype());
  Tensor x = plain(converted(input_gates, t)), y = plain(converted(hidden_gates, t)), h = plain(converted(hidden, t));
  DenseOutput next(out, t);
  TRINE_DISPATCH_FLOAT(t, "gru_cell", {
    GruRows<scalar_t> r{};
    r.input = x.data<scalar_t>(), r.hidden_gates = y.data<scalar_t>(), r.hidden = h.data<scalar_t>(), r.next = next.data<scalar_t>();
    r.rows = hidden.sizes()[0], r.size = hidden.sizes()[1];
    run_cell(r, false);
  });
  next.finish();
}

void gru_cell_backward(Tensor& input_grad, Tensor& hidden_gates_grad, Tensor& hidden_grad, const Tensor& grad, const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& hidden) {
  const DType t = compute_type(hidden.dtype());
  Tensor x = plain(converted(input_gates, t)), y = plain(converted(hidden_gates, t)), h = plain(converted(hidden, t)), d = plain(converted(grad, t));
  DenseOutput dx(input_grad, t), dy(hidden_gates_grad, t), dh(hidden_grad, t);
  TRINE_DISPATCH_FLOAT(t, "gru_cell", {
    GruRows<scalar_t> r{};
    r.input = x.data<scalar_t>(), r.hidden_gates = y.data<scalar_t>(), r.hidden = h.data<scalar_t>(), r.grad = d.data<scalar_t>();
    r.input_grad = dx.data<scalar_t>(), r.hidden_gates_grad = dy.data<scalar_t>(), r.hidden_grad = dh.data<scalar_t>();
    r.rows = hidden.sizes()[0], r.size = hidden.sizes()[1];
    run_cell(r, true);
  });
  dx.finish();
  dy.finish();
  dh.finish();
}

}  // namespace trine::cpu
