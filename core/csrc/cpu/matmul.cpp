#include "cpu/matmul.h"

#include <cstring>
#include <utility>

#include "base/numeric_modes.h"
#include "base/parallel.h"
#include "cpu/convert.h"
#include "cpu/dense.h"
#include "cpu/gemm.h"
#include "cpu/gemm_amx.h"
#include "cpu/onednn.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(gemm_float);
TRINE_ISA_TABLE(gemm_double);
TRINE_ISA_TABLE(gemm_amx);

namespace {

// From this many multiplications on oneDNN's assembly is faster than its call costs (measured: 256 cubed is where it starts to win).
constexpr int64_t kLibraryWork = int64_t{160} * 160 * 160;

template <class T> const T* at(const Strided& s, int64_t i) { return static_cast<const T*>(s.data) + i * s.batch; }

bool blas_layout(const Strided& s, int64_t rows, int64_t cols) {
  return (s.col == 1 && s.row >= std::max<int64_t>(1, cols)) || (s.row == 1 && s.col >= std::max<int64_t>(1, rows));
}

// A copy of one matrix, rows contiguous.
template <class T> void copy_matrix(T* to, const T* from, int64_t row, int64_t col, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) to[i * cols + j] = from[i * row + j * col];
}

template <class T> void multiply_one(const Product& p, const T* a, const T* b, T* c) {
  if (std::is_same_v<T, float> && p.m * p.n * p.k >= kLibraryWork && p.m > 1 && p.n > 1 && blas_layout(p.a, p.m, p.k) && blas_layout(p.b, p.k, p.n)) {
    bool ta = p.a.col != 1, tb = p.b.col != 1;
    float* out = reinterpret_cast<float*>(c);
    if (p.bias)
      for (int64_t i = 0; i < p.m; ++i) std::memcpy(out + i * p.n, p.bias, static_cast<size_t>(p.n) * sizeof(float));
    if (onednn_sgemm(ta, tb, p.m, p.n, p.k, reinterpret_cast<const float*>(a), ta ? p.a.col : p.a.row, reinterpret_cast<const float*>(b), tb ? p.b.col : p.b.row,
                     p.bias ? 1.0f : 0.0f, out, p.n))
      return;
  }
  Gemm<T> g{p.m, p.n, p.k, a, p.a.row, p.a.col, b, p.b.row, p.b.col, c, p.n};
  g.col_bias = static_cast<const T*>(p.bias);
  if (p.a.row == 1 || p.a.col == 1) return gemm(g);
  Scratch<T> dense(p.m * p.k);
  copy_matrix(dense.data(), a, p.a.row, p.a.col, p.m, p.k);
  g.a = dense.data(), g.a_row = p.k, g.a_col = 1;
  gemm(g);
}

template <class T> void multiply_float(const Product& p) {
  int64_t work = p.m * p.n * p.k;
  // Many small products are shared out whole; a large one is divided inside.
  int64_t grain = work * p.batch < (1 << 18) || work > (1 << 24) ? p.batch : std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(work, 1));
  T* c = static_cast<T*>(p.c);
  if (p.batch == 1) return multiply_one(p, at<T>(p.a, 0), at<T>(p.b, 0), c);
  parallel_for(0, p.batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) multiply_one(p, at<T>(p.a, i), at<T>(p.b, i), c + i * p.m * p.n);
  });
}

template <class T> void multiply_integer(const Product& p) {
  T* c = static_cast<T*>(p.c);
  const T* bias = static_cast<const T*>(p.bias);
  int64_t rows = p.batch * p.m;
  parallel_for(0, rows, std::max<int64_t>(1, 50000 / std::max<int64_t>(p.n * p.k, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* a = at<T>(p.a, r / p.m) + r % p.m * p.a.row;
      const T* b = at<T>(p.b, r / p.m);
      T* out = c + r * p.n;
      for (int64_t j = 0; j < p.n; ++j) out[j] = bias ? bias[j] : T(0);
      // Wraps like every integer operator: unsigned arithmetic avoids undefined overflow.
      using U = std::conditional_t<std::is_same_v<T, bool>, unsigned, std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, int, T>>>;
      for (int64_t k = 0; k < p.k; ++k) {
        U x = static_cast<U>(a[k * p.a.col]);
        const T* row = b + k * p.b.row;
        for (int64_t j = 0; j < p.n; ++j) out[j] = static_cast<T>(static_cast<U>(out[j]) + static_cast<U>(x * static_cast<U>(row[j * p.b.col])));
      }
    }
  });
}

// (Ar + i Ai)(Br + i Bi) as four real products.
template <class R> void multiply_complex(const Product& p) {
  using C = std::complex<R>;
  Scratch<R> ar(p.m * p.k), ai(p.m * p.k), ai_negative(p.m * p.k), br(p.k * p.n), bi(p.k * p.n), cr(p.m * p.n), ci(p.m * p.n);
  for (int64_t i = 0; i < p.batch; ++i) {
    const C *a = at<C>(p.a, i), *b = at<C>(p.b, i);
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t k = 0; k < p.k; ++k) {
        C v = a[r * p.a.row + k * p.a.col];
        ar[r * p.k + k] = v.real(), ai[r * p.k + k] = v.imag(), ai_negative[r * p.k + k] = -v.imag();
      }
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t j = 0; j < p.n; ++j) {
        C v = b[k * p.b.row + j * p.b.col];
        br[k * p.n + j] = v.real(), bi[k * p.n + j] = v.imag();
      }
    auto part = [&](R* a_part, R* b_part, R* c_part, bool accumulate) {
      Gemm<R> g{p.m, p.n, p.k, a_part, p.k, 1, b_part, p.n, 1, c_part, p.n};
      g.accumulate = accumulate;
      gemm(g);
    };
    part(ar.data(), br.data(), cr.data(), false);
    part(ai_negative.data(), bi.data(), cr.data(), true);
    part(ar.data(), bi.data(), ci.data(), false);
    part(ai.data(), br.data(), ci.data(), true);
    C* c = static_cast<C*>(p.c) + i * p.m * p.n;
    const C* bias = static_cast<const C*>(p.bias);
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t j = 0; j < p.n; ++j) c[r * p.n + j] = C(cr[r * p.n + j], ci[r * p.n + j]) + (bias ? bias[j] : C(0));
  }
}

// 16-bit floats where oneDNN has no kernel for this processor: in float32.
void multiply_widened(const Product& p) {
  ConvertFn widen = converter(DType::Float, p.dtype), narrow = converter(p.dtype, DType::Float);
  Scratch<float> a(p.m * p.k), b(p.k * p.n), c(p.m * p.n), bias(p.n);
  Scratch<uint16_t> dense(std::max(p.m * p.k, p.k * p.n));
  if (p.bias) widen(bias.data(), p.bias, p.n);
  for (int64_t i = 0; i < p.batch; ++i) {
    copy_matrix(dense.data(), at<uint16_t>(p.a, i), p.a.row, p.a.col, p.m, p.k);
    widen(a.data(), dense.data(), p.m * p.k);
    copy_matrix(dense.data(), at<uint16_t>(p.b, i), p.b.row, p.b.col, p.k, p.n);
    widen(b.data(), dense.data(), p.k * p.n);
    multiply(Product{DType::Float, 1, p.m, p.n, p.k, {a.data(), 0, p.k, 1}, {b.data(), 0, p.n, 1}, c.data(), p.bias ? bias.data() : nullptr});
    narrow(static_cast<uint16_t*>(p.c) + i * p.m * p.n, c.data(), p.m * p.n);
  }
}

// Transposed B, as layers have it, is where our packing beats oneDNN's reorder.
bool multiply_tiles(const Product& p) {
  if (p.dtype != DType::BFloat16 || p.batch != 1 || p.a.col != 1 || p.b.row != 1 || p.m < 16 || p.n < 16 || p.k < 32) return false;
  return gemm_amx(GemmBFloat16{p.m, p.n, p.k, at<uint16_t>(p.a, 0), p.a.row, at<uint16_t>(p.b, 0), p.b.row, p.b.col, static_cast<uint16_t*>(p.c), p.n, static_cast<const uint16_t*>(p.bias)});
}

bool multiply_library(const Product& p) {
  MatmulOperands o{p.batch, p.m, p.n, p.k, p.a.data, p.a.batch, p.a.row, p.a.col, p.b.data, p.b.batch, p.b.row, p.b.col, p.c, p.bias, p.dtype};
  return p.k > 0 && blas_layout(p.a, p.m, p.k) && blas_layout(p.b, p.k, p.n) && onednn_matmul(o);
}

// Where set_float32_matmul_precision allows it.
bool multiply_rounded(const Product& p) {
  return p.written && numeric_modes.bfloat16_products.load(std::memory_order_relaxed) && p.m > 1 && p.n > 1 && p.m * p.n * p.k >= kLibraryWork && multiply_library(p);
}

Strided strided(const Tensor& t) {
  int64_t d = t.dim();
  return {t.data(), d > 2 ? t.strides()[d - 3] : 0, t.strides()[d - 2], t.strides()[d - 1]};
}

// A dimension of size 1 may have any stride; the kernels look for strides of 1.
void simplify(Strided& s, int64_t rows, int64_t cols) {
  if (cols == 1 && s.row != 1) s.col = 1;
  if (rows == 1) s.row = s.col == 1 ? std::max<int64_t>(cols, 1) : 1;
}

void multiply_into(const Tensor& out, int64_t batch, int64_t m, int64_t n, int64_t k, const Strided& a, const Strided& b) {
  if (out.numel() == 0) return;
  DenseOutput c(out);
  multiply(Product{out.dtype(), batch, m, n, k, a, b, c.tensor().data(), nullptr, true});
  c.finish();
}

}  // namespace

void multiply(const Product& given) {
  Product p = given;
  if (p.batch == 0 || p.m == 0 || p.n == 0) return;
  simplify(p.a, p.m, p.k);
  simplify(p.b, p.k, p.n);
  switch (p.dtype) {
    case DType::Float:
      if (!multiply_rounded(p)) multiply_float<float>(p);
      return;
    case DType::Double: return multiply_float<double>(p);
    case DType::ComplexFloat: return multiply_complex<float>(p);
    case DType::ComplexDouble: return multiply_complex<double>(p);
    case DType::Half:
    case DType::BFloat16: {
      if (multiply_tiles(p)) return;
      if (!multiply_library(p)) multiply_widened(p);
      return;
    }
    default: TRINE_DISPATCH_INT(p.dtype, "matmul", { return multiply_integer<scalar_t>(p); });
  }
}

void mm(Tensor& out, const Tensor& self, const Tensor& mat2) {
  multiply_into(out, 1, self.sizes()[0], mat2.sizes()[1], self.sizes()[1], strided(self), strided(mat2));
}

void bmm(Tensor& out, const Tensor& self, const Tensor& mat2) {
  multiply_into(out, self.sizes()[0], self.sizes()[1], mat2.sizes()[2], self.sizes()[2], strided(self), strided(mat2));
}

void mv(Tensor& out, const Tensor& self, const Tensor& vec) {
  multiply_into(out, 1, self.sizes()[0], 1, self.sizes()[1], strided(self), {vec.data(), 0, vec.strides()[0], 1});
}

void dot(Tensor& out, const Tensor& self, const Tensor& tensor) {
  int64_t n = self.numel();
  multiply_into(out, 1, 1, 1, n, {self.data(), 0, 1, n ? self.strides()[0] : 1}, {tensor.data(), 0, n ? tensor.strides()[0] : 1, 1});
}

void linear(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (out.numel() == 0) return;
  int64_t d = input.dim(), k = input.sizes()[static_cast<size_t>(d - 1)], n = weight.dim() == 2 ? weight.sizes()[0] : 1, m = out.numel() / n;
  // Rows of a matrix may have any stride; leading dimensions must collapse into one.
  Tensor x = d <= 2 ? input : plain(input);
  Strided a{x.data(), 0, d == 2 ? x.strides()[0] : k, d ? x.strides()[static_cast<size_t>(d - 1)] : 1};
  Strided b{weight.data(), 0, weight.strides()[static_cast<size_t>(weight.dim() - 1)], weight.dim() == 2 ? weight.strides()[0] : 1};
  Tensor added = bias.defined() ? plain(bias) : bias;
  // A bias of one element for all columns (weight of one dimension) is a bias of the single column.
  DenseOutput c(out);
  multiply(Product{out.dtype(), 1, m, n, k, a, b, c.tensor().data(), added.defined() ? added.data() : nullptr, true});
  c.finish();
}

}  // namespace trine::cpu
