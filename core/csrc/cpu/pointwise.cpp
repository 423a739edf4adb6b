// The chunk engine behind every pointwise operator and behind copies: see dispatch/pointwise.h.
#include "dispatch/pointwise.h"

#include <cstring>

#include "base/parallel.h"
#include "cpu/convert.h"
#include "cpu/isa.h"
#include "cpu/pointwise.h"
#include "cpu/stream.h"
#include "trine/ops.h"

namespace trine::cpu {
namespace {

constexpr int64_t kChunk = 1024;          // elements; four operands of 8 bytes stay below 32 KiB
constexpr int64_t kGrain = 32 * 1024;     // elements a thread should get at least
constexpr int kOperands = kMaxPointwiseInputs + 1;  // operand 0 is the output

struct Operand {
  char* data;
  DType dtype;          // in memory
  DType loop_dtype;     // what the loop wants
  ConvertFn convert;    // nullptr when the two are equal
  int size;             // bytes of an element in memory
  bool constant;        // one element for the whole shape, already converted
  alignas(16) char value[16];
  Dims strides;         // bytes, after coalescing, inner dimension first
};

struct Plan {
  PointwiseLoop loop;
  const Scalar* scalars;
  int count;            // operands
  Operand operands[kOperands];
  Dims shape;           // coalesced, inner first
};

struct Buffers {
  alignas(64) char raw[kOperands][kChunk * 16];
  alignas(64) char loop[kOperands][kChunk * 16];
};

// Brings operand k's elements [0, n) starting at `p` into the form the loop wants.
const char* fetch(const Operand& op, const char* p, int64_t stride, int64_t n, char* raw, char* converted) {
  if (stride != op.size) {
    gather(raw, p, stride, n, op.size);
    p = raw;
  }
  if (!op.convert) return p;
  op.convert(converted, p, n);
  return converted;
}

// Whether a result is better written past the caches: it is large, and none of its lines is there already because an input shares it.
bool streams(const Plan& plan, int64_t total) {
  const Operand& out = plan.operands[0];
  bool shared = false;
  for (int k = 1; k < plan.count; k++) shared |= plan.operands[k].data == out.data;
  return !shared && out.strides[0] == out.size && total * out.size >= kStreamBytes;
}

void call_loop(const Plan& plan, char* out, const char* const* in, int64_t n) {
  if (plan.loop)
    plan.loop(out, in, plan.scalars, n);
  else if (out != in[0])
    std::memcpy(out, in[0], static_cast<size_t>(n) * itemsize(plan.operands[0].loop_dtype));
}

// Runs of the inner dimension, each cut into chunks.
void run_long_rows(const Plan& plan, int64_t begin, int64_t end, bool stream, Buffers& buf) {
  const Operand& out = plan.operands[0];
  int64_t inner = plan.shape[0];
  int64_t per_row = (inner + kChunk - 1) / kChunk;
  for (int64_t unit = begin; unit < end; unit++) {
    int64_t row = unit / per_row, first = (unit % per_row) * kChunk, n = std::min(kChunk, inner - first);
    char* p[kOperands];
    int64_t rest = row;
    for (int k = 0; k < plan.count; k++) p[k] = plan.operands[k].data + (plan.operands[k].constant ? 0 : first * plan.operands[k].strides[0]);
    for (size_t d = 1; d < plan.shape.size() && rest; d++) {
      int64_t i = rest % plan.shape[d];
      rest /= plan.shape[d];
      for (int k = 0; k < plan.count; k++)
        if (!plan.operands[k].constant) p[k] += i * plan.operands[k].strides[d];
    }
    const char* in[kOperands];
    for (int k = 1; k < plan.count; k++)
      in[k - 1] = plan.operands[k].constant ? buf.loop[k] : fetch(plan.operands[k], p[k], plan.operands[k].strides[0], n, buf.raw[k], buf.loop[k]);
    bool direct = out.strides[0] == out.size;
    if (direct && !out.convert && !stream) {
      call_loop(plan, p[0], in, n);
      continue;
    }
    call_loop(plan, buf.loop[0], in, n);
    char* result = buf.loop[0];
    if (out.convert) {
      char* to = direct && !stream ? p[0] : buf.raw[0];
      out.convert(to, result, n);
      result = to;
    }
    if (stream) stream_copy(p[0], result, static_cast<size_t>(n * out.size));
    else if (!direct) scatter(p[0], out.strides[0], result, n, out.size);
  }
  if (stream) stream_fence();
}

// Short inner dimensions: many rows are gathered into one chunk.
template <class Move> void walk_rows(const Plan& plan, const Operand& op, int64_t begin, int64_t n, Move move) {
  int64_t inner = plan.shape[0];
  size_t nd = plan.shape.size();
  Dims index(nd, 0);
  int64_t rest = begin;
  char* p = op.data;
  for (size_t d = 0; d < nd; d++) {
    index[d] = rest % plan.shape[d];
    rest /= plan.shape[d];
    p += index[d] * op.strides[d];
  }
  int64_t done = 0;
  while (done < n) {
    int64_t run = std::min(inner - index[0], n - done);
    move(p, done, run);
    done += run;
    p -= index[0] * op.strides[0];
    index[0] = 0;
    for (size_t d = 1; d < nd; d++) {
      p += op.strides[d];
      if (++index[d] < plan.shape[d]) break;
      p -= plan.shape[d] * op.strides[d];
      index[d] = 0;
    }
  }
}

void run_short_rows(const Plan& plan, int64_t begin, int64_t end, Buffers& buf) {
  const Operand& out = plan.operands[0];
  for (int64_t at = begin; at < end; at += kChunk) {
    int64_t n = std::min(kChunk, end - at);
    const char* in[kOperands];
    for (int k = 1; k < plan.count; k++) {
      const Operand& op = plan.operands[k];
      if (op.constant) {
        in[k - 1] = buf.loop[k];
        continue;
      }
      walk_rows(plan, op, at, n, [&](char* p, int64_t done, int64_t run) { gather(buf.raw[k] + done * op.size, p, op.strides[0], run, op.size); });
      in[k - 1] = buf.raw[k];
      if (op.convert) {
        op.convert(buf.loop[k], buf.raw[k], n);
        in[k - 1] = buf.loop[k];
      }
    }
    call_loop(plan, buf.loop[0], in, n);
    char* result = buf.loop[0];
    if (out.convert) {
      out.convert(buf.raw[0], result, n);
      result = buf.raw[0];
    }
    walk_rows(plan, out, at, n, [&](char* p, int64_t done, int64_t run) { scatter(p, out.strides[0], result + done * out.size, run, out.size); });
  }
}

void execute(const Plan& plan) {
  auto fill_constants = [&](Buffers& buf, int64_t n) {
    for (int k = 1; k < plan.count; k++)
      if (plan.operands[k].constant) gather(buf.loop[k], plan.operands[k].value, 0, std::min(n, kChunk), itemsize(plan.operands[k].loop_dtype));
  };
  int64_t inner = plan.shape[0], total = product(plan.shape);
  const bool stream = streams(plan, total);
  if (inner >= 128 || plan.shape.size() == 1) {
    int64_t per_row = (inner + kChunk - 1) / kChunk, units = total / inner * per_row;
    parallel_for(0, units, std::max<int64_t>(1, kGrain / std::min(inner, kChunk)), [&](int64_t b, int64_t e) {
      Buffers buf;
      fill_constants(buf, inner);
      run_long_rows(plan, b, e, stream, buf);
    });
  } else {
    parallel_for(0, total, kGrain, [&](int64_t b, int64_t e) {
      Buffers buf;
      fill_constants(buf, e - b);
      run_short_rows(plan, b, e, buf);
    });
  }
}

// Sorts the dimensions by the output's strides and merges those that all operands walk as one.
void set_geometry(Plan& plan, const Tensor& out, const Tensor* const* in) {
  DimsRef shape = out.sizes();
  Dims bytes[kOperands];
  DimsRef refs[kOperands];
  for (int k = 0; k < plan.count; k++) {
    const Tensor& t = k == 0 ? out : *in[k - 1];
    size_t lead = shape.size() - t.sizes().size();
    bytes[k] = Dims(shape.size(), 0);
    for (size_t d = lead; d < shape.size(); d++)
      bytes[k][d] = t.sizes()[d - lead] == 1 && shape[d] != 1 ? 0 : t.strides()[d - lead] * t.itemsize();
    refs[k] = bytes[k];
  }
  auto order = memory_order(shape, std::span<const DimsRef>(refs, plan.count));
  for (int d : order) {
    if (shape[d] == 1) continue;
    bool merge = !plan.shape.empty();
    for (int k = 0; merge && k < plan.count; k++) merge = bytes[k][d] == plan.operands[k].strides.back() * plan.shape.back();
    if (merge) {
      plan.shape.back() *= shape[d];
      continue;
    }
    plan.shape.push_back(shape[d]);
    for (int k = 0; k < plan.count; k++) plan.operands[k].strides.push_back(bytes[k][d]);
  }
  if (plan.shape.empty()) {
    plan.shape.push_back(1);
    for (int k = 0; k < plan.count; k++) plan.operands[k].strides.push_back(plan.operands[k].size);
  }
}

// The common case: one block of memory each, nothing to convert, beside operands of a single element. False: it is another case.
bool run_dense(const Tensor& out, DType out_loop, const Tensor* const* in, const DType* in_loop, int inputs, PointwiseLoop loop, const Scalar* scalars) {
  int64_t total = out.numel();
  if (!out.is_contiguous() || out.dtype() != out_loop) return false;
  bool constants = false;
  for (int k = 0; k < inputs; k++) {
    const Tensor& t = *in[k];
    if (t.dtype() == in_loop[k] && t.is_contiguous() && t.numel() == total) continue;
    if (t.numel() != 1 || !loop) return false;
    constants = true;
  }
  bool stream = total * out.itemsize() >= kStreamBytes;
  for (int k = 0; k < inputs; k++) stream = stream && in[k]->data() != out.data();
  // At most kChunk elements where the result is streamed.
  auto call = [&](char* o, const char* const* p, int64_t n) {
    if (stream) {
      const size_t bytes = static_cast<size_t>(n) * out.itemsize();
      if (!loop) return stream_copy(o, p[0], bytes);
      alignas(64) char chunk[kChunk * 16];
      loop(chunk, p, scalars, n);
      stream_copy(o, chunk, bytes);
    } else if (loop)
      loop(o, p, scalars, n);
    else if (o != p[0])
      std::memcpy(o, p[0], static_cast<size_t>(n) * out.itemsize());
  };
  if (!constants) {
    auto body = [&](int64_t b, int64_t e) {
      const int64_t step = stream ? kChunk : e - b;
      for (int64_t at = b; at < e; at += step) {
        const char* p[kOperands];
        for (int k = 0; k < inputs; k++) p[k] = static_cast<const char*>(in[k]->data()) + at * in[k]->itemsize();
        call(static_cast<char*>(out.data()) + at * out.itemsize(), p, std::min(step, e - at));
      }
      if (stream) stream_fence();
    };
    if (total <= kGrain)
      body(0, total);
    else
      parallel_for(0, total, kGrain, body);
    return true;
  }
  parallel_for(0, total, kGrain, [&](int64_t begin, int64_t end) {
    alignas(64) char repeated[kMaxPointwiseInputs][kChunk * 16];
    const char* base[kOperands];
    for (int k = 0; k < inputs; k++) {
      const Tensor& t = *in[k];
      if (t.numel() == total && t.dtype() == in_loop[k] && t.is_contiguous()) {
        base[k] = nullptr;
        continue;
      }
      char* p = repeated[k];
      if (t.dtype() == in_loop[k])
        std::memcpy(p, t.data(), t.itemsize());
      else
        converter(in_loop[k], t.dtype())(p, t.data(), 1);
      int64_t n = std::min(kChunk, end - begin);
      if (n > 1) gather(p, p, 0, n, itemsize(in_loop[k]));
      base[k] = p;
    }
    for (int64_t at = begin; at < end; at += kChunk) {
      const char* p[kOperands];
      for (int k = 0; k < inputs; k++) p[k] = base[k] ? base[k] : static_cast<const char*>(in[k]->data()) + at * in[k]->itemsize();
      call(static_cast<char*>(out.data()) + at * out.itemsize(), p, std::min(kChunk, end - at));
    }
    if (stream) stream_fence();
  });
  return true;
}

void run_plan(const Tensor& out, DType out_loop, const Tensor* const* in, const DType* in_loop, int inputs, PointwiseLoop loop, const Scalar* scalars) {
  if (out.numel() == 0) return;
  if (run_dense(out, out_loop, in, in_loop, inputs, loop, scalars)) return;
  Plan plan;
  plan.loop = loop;
  plan.scalars = scalars;
  plan.count = inputs + 1;
  for (int k = 0; k <= inputs; k++) {
    const Tensor& t = k == 0 ? out : *in[k - 1];
    Operand& op = plan.operands[k];
    op.data = static_cast<char*>(t.data());
    op.dtype = t.dtype();
    op.loop_dtype = k == 0 ? out_loop : in_loop[k - 1];
    op.size = t.itemsize();
    op.convert = op.dtype == op.loop_dtype ? nullptr : k == 0 ? converter(op.dtype, op.loop_dtype) : converter(op.loop_dtype, op.dtype);
    op.constant = k > 0 && t.numel() == 1 && out.numel() > 1;
    if (op.constant) {
      if (op.convert)
        op.convert(op.value, op.data, 1);
      else
        std::memcpy(op.value, op.data, op.size);
    }
  }
  set_geometry(plan, out, in);
  execute(plan);
}

void pointwise_cpu(const PointwiseDef& def, const Tensor& out, const Tensor* const* in, const Scalar* scalars, DType compute) {
  // Integer division has no value to give for a zero divisor; nothing is written before that is known.
  if (def.divisor >= 0 && is_integral(compute, true) && out.numel() > 0)
    TRINE_CHECK(item(all(*in[def.divisor])).to<bool>(), def.name, ": ZeroDivisionError: an integer divisor of shape ", in[def.divisor]->sizes(), " holds a zero");
  DType loop_type = compute_type(compute);
  DType in_loop[kMaxPointwiseInputs];
  for (int k = 0; k < def.num_inputs; k++) in_loop[k] = def.raw_inputs >> k & 1 ? DType::Bool : loop_type;
  DType out_loop = def.rule == PointwiseRule::Compare || def.rule == PointwiseRule::Predicate ? DType::Bool : def.rule == PointwiseRule::Real ? to_real(loop_type) : loop_type;
  PointwiseLoop loop = def.loops->fn[isa_level()][static_cast<int>(loop_type)];
  run_plan(out, out_loop, in, in_loop, def.num_inputs, loop, scalars);
}

const bool registered = (register_pointwise_backend(DeviceType::CPU, pointwise_cpu), true);

}  // namespace

void convert_copy(const Tensor& dst, const Tensor& src) {
  const Tensor* in[] = {&src};
  // Convert on the side with fewer bytes in flight: the loop type is the destination's.
  DType loop = dst.dtype();
  run_plan(dst, loop, in, &loop, 1, nullptr, nullptr);
}

}  // namespace trine::cpu
