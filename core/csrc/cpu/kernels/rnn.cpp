#include "cpu/rnn.h"

#include "base/parallel.h"
#include "math/math.h"

namespace trine::cpu {
namespace {

using math::sigmoid;
using math::tanh;

template <class T> void lstm_forward(const T* __restrict g, const T* __restrict c, T* __restrict h, T* __restrict next, int64_t n) {
  for (int64_t j = 0; j < n; ++j) next[j] = sigmoid(g[n + j]) * c[j] + sigmoid(g[j]) * tanh(g[2 * n + j]);
  for (int64_t j = 0; j < n; ++j) h[j] = sigmoid(g[3 * n + j]) * tanh(next[j]);
}

template <class T>
void lstm_backward(const T* __restrict g, const T* __restrict c, const T* __restrict next, const T* __restrict dh, const T* __restrict dn, T* __restrict dg, T* __restrict dc, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    T o = sigmoid(g[3 * n + j]), t = tanh(next[j]);
    dg[3 * n + j] = dh[j] * t * o * (T(1) - o);
    dc[j] = dn[j] + dh[j] * o * (T(1) - t * t);
  }
  for (int64_t j = 0; j < n; ++j) {
    T i = sigmoid(g[j]), f = sigmoid(g[n + j]), u = tanh(g[2 * n + j]), d = dc[j];
    dg[j] = d * u * i * (T(1) - i);
    dg[n + j] = d * c[j] * f * (T(1) - f);
    dg[2 * n + j] = d * i * (T(1) - u * u);
    dc[j] = d * f;
  }
}

template <class T> void gru_forward(const T* __restrict x, const T* __restrict y, const T* __restrict h, T* __restrict next, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    T r = sigmoid(x[j] + y[j]), z = sigmoid(x[n + j] + y[n + j]);
    T u = tanh(x[2 * n + j] + r * y[2 * n + j]);
    next[j] = u + z * (h[j] - u);
  }
}

template <class T>
void gru_backward(const T* __restrict x, const T* __restrict y, const T* __restrict h, const T* __restrict d, T* __restrict dx, T* __restrict dy, T* __restrict dh, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    T r = sigmoid(x[j] + y[j]), z = sigmoid(x[n + j] + y[n + j]), hidden = y[2 * n + j];
    T u = tanh(x[2 * n + j] + r * hidden);
    T du = d[j] * (T(1) - z) * (T(1) - u * u), dr = du * hidden * r * (T(1) - r), dz = d[j] * (h[j] - u) * z * (T(1) - z);
    dx[j] = dy[j] = dr;
    dx[n + j] = dy[n + j] = dz;
    dx[2 * n + j] = du;
    dy[2 * n + j] = du * r;
    dh[j] = d[j] * z;
  }
}

template <class F> void for_rows(int64_t rows, int64_t size, F&& f) {
  parallel_for(0, rows, std::max<int64_t>(1, 8192 / std::max<int64_t>(size, 1)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) f(i);
  });
}

template <class T> void lstm(const LstmRows<T>& r, bool backward) {
  const int64_t n = r.size;
  for_rows(r.rows, n, [&](int64_t i) {
    const T* g = r.gates + i * 4 * n;
    if (backward) lstm_backward(g, r.cell + i * n, r.next_cell + i * n, r.grad_hidden + i * n, r.grad_cell + i * n, r.gates_grad + i * 4 * n, r.cell_grad + i * n, n);
    else lstm_forward(g, r.cell + i * n, r.hidden + i * n, r.next + i * n, n);
  });
}

template <class T> void gru(const GruRows<T>& r, bool backward) {
  const int64_t n = r.size;
  for_rows(r.rows, n, [&](int64_t i) {
    const T *x = r.input + i * 3 * n, *y = r.hidden_gates + i * 3 * n, *h = r.hidden + i * n;
    if (backward) gru_backward(x, y, h, r.grad + i * n, r.input_grad + i * 3 * n, r.hidden_gates_grad + i * 3 * n, r.hidden_grad + i * n, n);
    else gru_forward(x, y, h, r.next + i * n, n);
  });
}

TRINE_ISA_DEFINE(lstm_float, lstm<float>);
TRINE_ISA_DEFINE(lstm_double, lstm<double>);
TRINE_ISA_DEFINE(gru_float, gru<float>);
TRINE_ISA_DEFINE(gru_double, gru<double>);

}  // namespace
}  // namespace trine::cpu
