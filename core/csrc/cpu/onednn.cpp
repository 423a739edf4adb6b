#include "cpu/onednn.h"

#include <trine_build.h>

#if TRINE_HAVE_DNNL
#include <dnnl.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/numeric_modes.h"
#include "base/parallel.h"
#include "cpu/scratch.h"

namespace trine::cpu {
namespace {

using dnnl::memory;
using Dims = memory::dims;

dnnl::engine& engine() {
  static dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}
dnnl::stream& stream() {
  // Behind pointers: the static thread-local block is small, and shared by every library of the process.
  thread_local std::unique_ptr<dnnl::stream> s = std::make_unique<dnnl::stream>(engine());
  return *s;
}

memory::data_type data_type(DType t) {
  switch (t) {
    case DType::Float: return memory::data_type::f32;
    case DType::BFloat16: return memory::data_type::bf16;
    case DType::Half: return memory::data_type::f16;
    default: return memory::data_type::undef;
  }
}

// An operand as the caller has it and as the primitive wants it.
struct Operand {
  int argument;
  memory::desc given, wanted;
  dnnl::reorder reorder{};  // given -> wanted for inputs, back for results; empty when the two agree
  bool result = false;
};

struct Operation {
  dnnl::primitive primitive;
  memory::desc scratchpad;
  std::array<Operand, 4> operands;
  int count = 0;

  void add(int argument, const memory::desc& given, const memory::desc& wanted, bool result) {
    Operand& o = operands[static_cast<size_t>(count++)];
    o.argument = argument, o.given = given, o.wanted = wanted, o.result = result;
    if (given != wanted) {
      const memory::desc &from = result ? wanted : given, &to = result ? given : wanted;
      o.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to));
    }
  }

  void run(std::initializer_list<void*> pointers) const {
    std::unordered_map<int, memory> arguments;
    std::array<std::unique_ptr<Scratch<char>>, 4> temporaries;
    size_t i = 0;
    for (void* p : pointers) {
      const Operand& o = operands[i];
      memory own(o.given, engine(), p);
      if (!o.reorder) {
        arguments.emplace(o.argument, own);
      } else {
        temporaries[i] = std::make_unique<Scratch<char>>(static_cast<int64_t>(o.wanted.get_size()));
        memory chosen(o.wanted, engine(), temporaries[i]->data());
        if (!o.result) dnnl::reorder(o.reorder).execute(stream(), own, chosen);
        arguments.emplace(o.argument, chosen);
      }
      ++i;
    }
    Scratch<char> pad(static_cast<int64_t>(scratchpad.get_size()));
    arguments.emplace(DNNL_ARG_SCRATCHPAD, memory(scratchpad, engine(), pad.data()));
    primitive.execute(stream(), arguments);
    i = 0;
    for (void* p : pointers) {
      const Operand& o = operands[i++];
      if (o.reorder && o.result) {
        memory own(o.given, engine(), p);
        dnnl::reorder(o.reorder).execute(stream(), arguments.at(o.argument), own);
      }
    }
    stream().wait();
  }
};

// Compiled operations by their description. An empty pointer remembers that oneDNN has no implementation.
class Cache {
 public:
  template <class Make> const Operation* get(const void* key, size_t bytes, const Make& make) {
    std::string_view text(static_cast<const char*>(key), bytes);
    auto found = map_.find(std::string(text));
    if (found != map_.end()) return found->second.get();
    if (map_.size() >= kLimit) map_.clear();
    std::unique_ptr<Operation> made;
    try {
      made = std::make_unique<Operation>(make());
    } catch (const dnnl::error& e) {
      if (e.status != dnnl_unimplemented && e.status != dnnl_invalid_arguments) throw;
    }
    return map_.emplace(std::string(text), std::move(made)).first->second.get();
  }

 private:
  static constexpr size_t kLimit = 1024;
  std::unordered_map<std::string, std::unique_ptr<Operation>> map_;
};

Cache& cache() {
  thread_local std::unique_ptr<Cache> c = std::make_unique<Cache>();
  return *c;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr a;
  a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return a;
}

Dims dense_strides(const Dims& sizes, bool channels_last, size_t channel) {
  Dims strides(sizes.size());
  memory::dim next = 1;
  if (channels_last) strides[channel] = 1, next = sizes[channel];
  for (size_t d = sizes.size(); d-- > 0;) {
    if (channels_last && d == channel) continue;
    strides[d] = next;
    next *= sizes[d];
  }
  return strides;
}

struct ConvKey {
  ConvShape shape;
  int64_t kind[8];
};

Operation make_conv(ConvPass pass, const ConvShape& s, const ConvOperands& o) {
  using F = memory::format_tag;
  size_t nd = static_cast<size_t>(o.spatial_dims), skip = 3 - nd;
  Dims src{s.batch, s.in_channels}, dst{s.batch, s.out_channels}, weights, stride, dilation, padding, padding_end;
  if (s.groups > 1) weights = {s.groups, s.group_out(), s.group_in()};
  else weights = {s.out_channels, s.in_channels};
  for (size_t d = skip; d < 3; ++d) {
    src.push_back(s.in[d]);
    dst.push_back(s.out[d]);
    weights.push_back(s.kernel[d]);
    stride.push_back(s.stride[d]);
    dilation.push_back(s.dilation[d] - 1);
    padding.push_back(s.padding[d]);
    // The end of the padding follows from the sizes: a strided window may leave rows unused, which oneDNN expresses as less padding.
    padding_end.push_back((s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] + 1 - s.in[d] - s.padding[d]);
  }
  auto type = data_type(o.dtype);
  memory::desc src_given(src, type, dense_strides(src, o.channels_last, 1)), dst_given(dst, type, dense_strides(dst, o.channels_last, 1));
  memory::desc weights_given(weights, type, dense_strides(weights, o.weight_channels_last, s.groups > 1 ? 2 : 1));
  memory::desc any_weights(weights, type, F::any);
  // Channels-last activations are as fast as blocked ones, so they are taken as they are; plain ones would select slow kernels.
  memory::desc src_any = o.channels_last ? src_given : memory::desc(src, type, F::any), dst_any = o.channels_last ? dst_given : memory::desc(dst, type, F::any);
  memory::desc bias = o.bias ? memory::desc({s.out_channels}, type, F::x) : memory::desc();
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  auto attr = attributes();
  Operation op;
  if (pass == ConvPass::Forward) {
    dnnl::convolution_forward::primitive_desc pd(engine(), dnnl::prop_kind::forward_inference, direct, src_any, any_weights, bias, dst_any, stride, dilation, padding, padding_end, attr);
    op.primitive = dnnl::convolution_forward(pd);
    op.scratchpad = pd.scratchpad_desc();
    op.add(DNNL_ARG_SRC, src_given, pd.src_desc(), false);
    op.add(DNNL_ARG_WEIGHTS, weights_given, pd.weights_desc(), false);
    op.add(DNNL_ARG_DST, dst_given, pd.dst_desc(), true);
    if (o.bias) op.add(DNNL_ARG_BIAS, bias, bias, false);
    return op;
  }
  dnnl::convolution_forward::primitive_desc hint(engine(), dnnl::prop_kind::forward_training, direct, src_any, any_weights, dst_any, stride, dilation, padding, padding_end, attr);
  if (pass == ConvPass::BackwardInput) {
    dnnl::convolution_backward_data::primitive_desc pd(engine(), direct, src_any, any_weights, dst_any, stride, dilation, padding, padding_end, hint, attr);
    op.primitive = dnnl::convolution_backward_data(pd);
    op.scratchpad = pd.scratchpad_desc();
    op.add(DNNL_ARG_DIFF_SRC, src_given, pd.diff_src_desc(), true);
    op.add(DNNL_ARG_WEIGHTS, weights_given, pd.weights_desc(), false);
    op.add(DNNL_ARG_DIFF_DST, dst_given, pd.diff_dst_desc(), false);
  } else {
    dnnl::convolution_backward_weights::primitive_desc pd(engine(), direct, src_any, any_weights, dst_any, stride, dilation, padding, padding_end, hint, attr);
    op.primitive = dnnl::convolution_backward_weights(pd);
    op.scratchpad = pd.scratchpad_desc();
    op.add(DNNL_ARG_SRC, src_given, pd.src_desc(), false);
    op.add(DNNL_ARG_DIFF_WEIGHTS, weights_given, pd.diff_weights_desc(), true);
    op.add(DNNL_ARG_DIFF_DST, dst_given, pd.diff_dst_desc(), false);
  }
  return op;
}

struct MatmulKey {
  int64_t sizes[13];
};

Operation make_matmul(const MatmulOperands& o) {
  auto type = data_type(o.dtype);
  Dims a{o.m, o.k}, b{o.k, o.n}, c{o.m, o.n}, a_strides{o.a_row, o.a_col}, b_strides{o.b_row, o.b_col}, c_strides{o.n, 1}, bias{1, o.n};
  if (o.batch != 1) {
    auto lead = [&](Dims& d, int64_t v) { d.insert(d.begin(), v); };
    bool a_shared = o.a_batch == 0, b_shared = o.b_batch == 0;
    lead(a, a_shared ? 1 : o.batch), lead(b, b_shared ? 1 : o.batch), lead(c, o.batch), lead(bias, 1);
    lead(a_strides, a_shared ? o.m * o.k : o.a_batch), lead(b_strides, b_shared ? o.k * o.n : o.b_batch), lead(c_strides, o.m * o.n);
  }
  memory::desc da(a, type, a_strides), db(b, type, b_strides), dc(c, type, c_strides);
  // A reorder into the layout the kernel likes pays when many rows meet the same B.
  memory::desc wanted_b = o.m >= 64 && (o.batch == 1 || o.b_batch == 0) ? memory::desc(b, type, memory::format_tag::any) : db;
  memory::desc dbias = o.col_bias ? memory::desc(bias, type, bias.size() == 2 ? memory::format_tag::ab : memory::format_tag::abc) : memory::desc();
  auto attr = attributes();
  if (o.dtype == DType::Float) attr.set_fpmath_mode(dnnl::fpmath_mode::bf16);
  dnnl::matmul::primitive_desc pd = o.col_bias ? dnnl::matmul::primitive_desc(engine(), da, wanted_b, dbias, dc, attr) : dnnl::matmul::primitive_desc(engine(), da, wanted_b, dc, attr);
  Operation op;
  op.primitive = dnnl::matmul(pd);
  op.scratchpad = pd.scratchpad_desc();
  op.add(DNNL_ARG_SRC, da, pd.src_desc(), false);
  op.add(DNNL_ARG_WEIGHTS, db, pd.weights_desc(), false);
  op.add(DNNL_ARG_DST, dc, pd.dst_desc(), true);
  if (o.col_bias) op.add(DNNL_ARG_BIAS, dbias, dbias, false);
  return op;
}

}  // namespace

bool onednn_conv(ConvPass pass, const ConvShape& s, const ConvOperands& o) {
  if (data_type(o.dtype) == memory::data_type::undef) return false;
  // Threads each add up a part of the images' weight gradients.
  const bool alone = pass == ConvPass::BackwardWeight && numeric_modes.deterministic;
  Alone guard(alone);
  ConvKey key{s, {static_cast<int64_t>(pass), static_cast<int64_t>(o.dtype), o.channels_last, o.weight_channels_last, o.bias != nullptr, o.spatial_dims, alone ? 1 : num_threads(), 0}};
  const Operation* op = cache().get(&key, sizeof key, [&] { return make_conv(pass, s, o); });
  if (!op) return false;
  if (op->count == 4) op->run({o.input, o.weight, o.output, const_cast<void*>(o.bias)});
  else op->run({o.input, o.weight, o.output});
  return true;
}

bool onednn_matmul(const MatmulOperands& o) {
  if (data_type(o.dtype) == memory::data_type::undef) return false;
  MatmulKey key{{1000 + static_cast<int64_t>(o.dtype), o.batch, o.m, o.n, o.k, o.a_batch, o.a_row, o.a_col, o.b_batch, o.b_row, o.b_col, o.col_bias != nullptr, num_threads()}};
  const Operation* op = cache().get(&key, sizeof key, [&] { return make_matmul(o); });
  if (!op) return false;
  void *a = const_cast<void*>(o.a), *b = const_cast<void*>(o.b);
  if (o.col_bias) op->run({a, b, o.c, const_cast<void*>(o.col_bias)});
  else op->run({a, b, o.c});
  return true;
}

bool onednn_sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                  int64_t ldc) {
  return dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc) == dnnl_success;
}

}  // namespace trine::cpu

#else

namespace trine::cpu {
bool onednn_conv(ConvPass, const ConvShape&, const ConvOperands&) { return false; }
bool onednn_matmul(const MatmulOperands&) { return false; }
bool onednn_sgemm(bool, bool, int64_t, int64_t, int64_t, const float*, int64_t, const float*, int64_t, float, float*, int64_t) { return false; }
}  // namespace trine::cpu

#endif
