#include "cpu/attention.h"

#include "cpu/dense.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(attention_float);
TRINE_ISA_TABLE(attention_double);

namespace {

Tensor rows_contiguous(const Tensor& t, DType dtype) { return t.dtype() == dtype && t.strides()[3] == 1 ? t : converted(t, dtype); }
template <class T> HeadRows<T> head_rows(const Tensor& t) { return {t.data<T>(), t.strides()[0], t.strides()[1], t.strides()[2]}; }

}  // namespace

void attention_forward(Tensor& out, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale) {
  if (out.numel() == 0) return;
  DType t = compute_type(out.dtype());
  Tensor q = rows_contiguous(query, t), k = rows_contiguous(key, t), v = rows_contiguous(value, t), mask;
  if (attn_mask.defined()) {
    mask = expand_to(attn_mask.dtype() == DType::Bool ? attn_mask : converted(attn_mask, t), Dims{q.sizes()[0], q.sizes()[1], q.sizes()[2], k.sizes()[2]});
  }
  DenseOutput y(out, t);
  auto run = [&](auto type, const auto& kernel) {
    using T = decltype(type);
    Attention<T> a{};
    a.batch = q.sizes()[0], a.heads = q.sizes()[1], a.kv_heads = k.sizes()[1], a.queries = q.sizes()[2], a.keys = k.sizes()[2], a.width = q.sizes()[3], a.value_width = v.sizes()[3];
    a.q = head_rows<T>(q), a.k = head_rows<T>(k), a.v = head_rows<T>(v);
    if (mask.defined()) {
      if (mask.dtype() == DType::Bool) a.keep = mask.data<bool>();
      else a.bias = mask.data<T>();
      a.mask_batch = mask.strides()[0], a.mask_head = mask.strides()[1], a.mask_row = mask.strides()[2], a.mask_col = mask.strides()[3];
    }
    a.causal = is_causal, a.scale = static_cast<T>(scale), a.out = y.template data<T>();
    kernel(a);
  };
  if (t == DType::Float) run(float{}, attention_float);
  else if (t == DType::Double) run(double{}, attention_double);
  else unsupported_dtype("scaled_dot_product_attention", t);
  y.finish();
}

}  // namespace trine::cpu
