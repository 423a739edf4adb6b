// The walk of every reduction: see reduce.h.
#include "cpu/reduce.h"

#include <cstring>

#include "base/parallel.h"
#include "cpu/convert.h"
#include "cpu/pointwise.h"
#include "cpu/scratch.h"

namespace trine::cpu {

ReduceTable reduce_tables[kIsaLevels];

const ReduceLoop& reduce_loop(const char* name, ReduceOp op, DType in) {
  const ReduceLoop& loop = reduce_tables[isa_level()].loops[static_cast<int>(op)][static_cast<int>(in)];
  if (!loop.row) unsupported_dtype(name, in);
  return loop;
}

namespace {

constexpr int64_t kUnit = 32 * 1024;   // elements of one unit of work
constexpr int64_t kGrain = 64 * 1024;  // elements a thread should get at least
constexpr int64_t kBlock = 256;        // results that are accumulated side by side
constexpr int64_t kTile = 4096;        // elements of the buffers for strided or converted input
constexpr int64_t kTileRows = 16;
constexpr int kMaxPlanes = 3;

struct Axis {
  int64_t size;
  int64_t in;    // strides in bytes
  int64_t out;
  int64_t out2;
};
using Axes = SmallVector<Axis, 5>;  // inner first

int64_t count(const Axes& axes) {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.size;
  return n;
}

void sort_and_merge(Axes& axes, bool sort) {
  if (sort)
    for (size_t i = 1; i < axes.size(); i++)
      for (size_t j = i; j > 0 && axes[j - 1].in > axes[j].in; j--) std::swap(axes[j - 1], axes[j]);
  size_t kept = 0;
  for (size_t i = 0; i < axes.size(); i++) {
    if (axes[i].size == 1) continue;
    if (kept > 0) {
      Axis& last = axes[kept - 1];
      if (axes[i].in == last.in * last.size && axes[i].out == last.out * last.size && axes[i].out2 == last.out2 * last.size) {
        last.size *= axes[i].size;
        continue;
      }
    }
    axes[kept++] = axes[i];
  }
  axes.resize(kept, Axis{});
}

struct Walk {
  const ReduceLoop& loop;
  const double* params;
  Axes kept, reduced;
  int64_t results, length;  // counts of the two
  const char* in;
  char* out;
  char* out2;
  int in_size, loop_size, out_size, out2_size;
  ConvertFn convert;
};

// Offsets of the outer axes (from `first_axis` on) for a linear number.
void place(const Axes& axes, size_t first_axis, int64_t number, int64_t& in, int64_t& out, int64_t& out2) {
  for (size_t d = first_axis; d < axes.size(); d++) {
    int64_t i = number;
    if (d + 1 < axes.size()) {  // a division costs as much as adding up a short row
      number = i / axes[d].size;
      i -= number * axes[d].size;
    }
    in += i * axes[d].in;
    out += i * axes[d].out;
    out2 += i * axes[d].out2;
  }
}
int64_t place_in(const Axes& axes, size_t first_axis, int64_t number) {
  int64_t in = 0, unused = 0;
  place(axes, first_axis, number, in, unused, unused);
  return in;
}

struct Buffers {
  alignas(64) char raw[kTile * 16];
  alignas(64) char loop[kTile * 16];
};

// n elements at p, `stride` bytes apart, in the form the loops want.
const char* fetch(const Walk& w, const char* p, int64_t stride, int64_t n, char* raw, char* converted) {
  if (stride != w.in_size) {
    gather(raw, p, stride, n, w.in_size);
    p = raw;
  }
  if (!w.convert) return p;
  w.convert(converted, p, n);
  return converted;
}

// Elements [begin, end) of one result's reduction, into acc.
void accumulate_row(const Walk& w, const char* base, int64_t begin, int64_t end, void* acc, Buffers* buffers) {
  Axis inner = w.reduced.empty() ? Axis{1, w.in_size, 0, 0} : w.reduced[0];
  bool direct = inner.in == w.in_size && !w.convert;
  for (int64_t at = begin; at < end;) {
    int64_t offset = w.reduced.size() > 1 ? at % inner.size : at, run = std::min(inner.size - offset, end - at);
    const char* p = base + offset * inner.in + (w.reduced.size() > 1 ? place_in(w.reduced, 1, at / inner.size) : 0);
    if (direct) {
      w.loop.row(p, run, acc, at - begin, at, w.params);
    } else {
      for (int64_t b = 0; b < run; b += kTile) {
        int64_t n = std::min(kTile, run - b);
        w.loop.row(fetch(w, p + b * inner.in, inner.in, n, buffers->raw, buffers->loop), n, acc, at - begin + b, at + b, w.params);
      }
    }
    at += run;
  }
}

// Rows [begin, end) of the reduction for `width` neighbouring results, `stride` bytes apart.
void accumulate_columns(const Walk& w, const char* base, int64_t stride, int64_t width, int64_t begin, int64_t end, void* acc, Buffers* buffers) {
  Axis inner = w.reduced.empty() ? Axis{1, 0, 0, 0} : w.reduced[0];
  bool direct = stride == w.in_size && !w.convert;
  for (int64_t at = begin; at < end;) {
    int64_t offset = at % inner.size, run = std::min(inner.size - offset, end - at);
    const char* p = base + offset * inner.in + (w.reduced.size() > 1 ? place_in(w.reduced, 1, at / inner.size) : 0);
    if (direct && inner.in % w.in_size == 0) {
      w.loop.columns(p, inner.in / w.in_size, run, width, acc, at - begin, at, w.params);
    } else {
      for (int64_t r = 0; r < run; r += kTileRows) {
        int64_t rows = std::min(kTileRows, run - r);
        for (int64_t i = 0; i < rows; i++) {
          char* place = buffers->loop + i * width * w.loop_size;
          const char* got = fetch(w, p + (r + i) * inner.in, stride, width, buffers->raw, place);
          if (got != place) std::memcpy(place, got, static_cast<size_t>(width) * w.loop_size);
        }
        w.loop.columns(buffers->loop, width, rows, width, acc, at - begin + r, at + r, w.params);
      }
    }
    at += run;
  }
}

// Many results, each over a row of memory.
void run_rows(const Walk& w) {
  int64_t acc_bytes = static_cast<int64_t>(w.loop.planes) * w.loop.acc_size;
  int64_t parts = std::max<int64_t>(1, (w.length + kUnit - 1) / kUnit), part = parts == 1 ? w.length : kUnit;
  bool direct = !w.convert && (w.reduced.empty() || w.reduced[0].in == w.in_size);
  auto store = [&](const void* acc, int64_t result) {
    int64_t in = 0, out = 0, out2 = 0;
    place(w.kept, 0, result, in, out, out2);
    w.loop.finish(acc, 1, w.length, w.params, w.out + out, w.out2 ? w.out2 + out2 : nullptr);
  };
  Scratch<char> partial(parts > 1 ? w.results * parts * acc_bytes : 1);
  parallel_for(0, w.results * parts, std::max<int64_t>(1, kGrain / std::max<int64_t>(part, 1)), [&](int64_t b, int64_t e) {
    std::optional<Scratch<Buffers>> buffers;
    if (!direct) buffers.emplace(1);
    alignas(16) char local[kMaxPlanes * 16];
    for (int64_t unit = b; unit < e; unit++) {
      int64_t result = parts > 1 ? unit / parts : unit, begin = (unit - result * parts) * part;
      char* acc = parts > 1 ? partial.data() + unit * acc_bytes : local;
      w.loop.init(acc, 1);
      accumulate_row(w, w.in + place_in(w.kept, 0, result), begin, std::min(w.length, begin + part), acc, direct ? nullptr : buffers->data());
      if (parts == 1) store(acc, result);
    }
  });
  if (parts == 1) return;
  for (int64_t result = 0; result < w.results; result++) {
    char* acc = partial.data() + result * parts * acc_bytes;
    for (int64_t i = 1; i < parts; i++) w.loop.combine(acc, i * part, acc + i * acc_bytes, std::min(part, w.length - i * part), 1);
    store(acc, result);
  }
}

// Neighbouring results lie side by side in memory: blocks of them are accumulated together.
void run_columns(const Walk& w) {
  Axis inner = w.kept[0];
  int64_t block = std::min(inner.size, kBlock), blocks = (inner.size + block - 1) / block;
  int64_t outer = w.results / inner.size, groups = outer * blocks;
  int64_t rows = w.length;
  if (groups < 64) rows = std::max<int64_t>(64, kUnit / block);
  int64_t parts = std::max<int64_t>(1, (w.length + rows - 1) / std::max<int64_t>(rows, 1));
  if (parts == 1) rows = w.length;
  int64_t acc_bytes = block * w.loop.planes * w.loop.acc_size;
  auto width_of = [&](int64_t group) { return std::min(block, inner.size - group % blocks * block); };
  auto store = [&](const void* acc, int64_t group, char* spare) {
    int64_t first = group % blocks * block, width = width_of(group);
    int64_t in = 0, out = first * inner.out, out2 = first * inner.out2;
    place(w.kept, 1, group / blocks, in, out, out2);
    bool direct = inner.out == w.out_size, direct2 = w.out2 && inner.out2 == w.out2_size;
    char* to = direct ? w.out + out : spare;
    char* to2 = !w.out2 ? nullptr : direct2 ? w.out2 + out2 : spare + kBlock * 16;
    w.loop.finish(acc, width, w.length, w.params, to, to2);
    if (!direct) scatter(w.out + out, inner.out, to, width, w.out_size);
    if (w.out2 && !direct2) scatter(w.out2 + out2, inner.out2, to2, width, w.out2_size);
  };
  Scratch<char> partial(parts > 1 ? groups * parts * acc_bytes : 1);
  bool direct = inner.in == w.in_size && !w.convert && (w.reduced.empty() || w.reduced[0].in % w.in_size == 0);
  parallel_for(0, groups * parts, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, block * rows)), [&](int64_t b, int64_t e) {
    std::optional<Scratch<Buffers>> buffers;
    if (!direct) buffers.emplace(1);
    Scratch<char> local(acc_bytes);
    alignas(64) char spare[2 * kBlock * 16];
    for (int64_t unit = b; unit < e; unit++) {
      int64_t group = unit / parts, begin = unit % parts * rows, width = width_of(group);
      char* acc = parts > 1 ? partial.data() + unit * acc_bytes : local.data();
      w.loop.init(acc, width);
      const char* base = w.in + group % blocks * block * inner.in + place_in(w.kept, 1, group / blocks);
      accumulate_columns(w, base, inner.in, width, begin, std::min(w.length, begin + rows), acc, direct ? nullptr : buffers->data());
      if (parts == 1) store(acc, group, spare);
    }
  });
  if (parts == 1) return;
  alignas(64) char spare[2 * kBlock * 16];
  for (int64_t group = 0; group < groups; group++) {
    char* acc = partial.data() + group * parts * acc_bytes;
    for (int64_t i = 1; i < parts; i++) w.loop.combine(acc, i * rows, acc + i * acc_bytes, std::min(rows, w.length - i * rows), width_of(group));
    store(acc, group, spare);
  }
}

// out and out2 have the loops' types here.
void reduce_into(const Reduction& r, const Tensor& out, const Tensor* out2, const Tensor& self) {
  const ReduceLoop& loop = *r.loop;
  uint64_t all = self.dim() == 0 ? 0 : ~uint64_t{0} >> (64 - self.dim());
  if ((r.dims & all) == all && self.is_contiguous() && self.dtype() == loop.in && self.numel() <= kUnit) {
    alignas(16) char acc[kMaxPlanes * 16];
    loop.init(acc, 1);
    if (self.numel()) loop.row(self.data(), self.numel(), acc, 0, 0, r.params);
    loop.finish(acc, 1, self.numel(), r.params, out.data(), out2 ? out2->data() : nullptr);
    return;
  }
  Walk w{loop, r.params, {}, {}, 0, 0, static_cast<const char*>(self.data()), static_cast<char*>(out.data()), out2 ? static_cast<char*>(out2->data()) : nullptr,
         self.itemsize(), itemsize(loop.in), out.itemsize(), out2 ? out2->itemsize() : 0, self.dtype() == loop.in ? nullptr : converter(loop.in, self.dtype())};
  bool keepdim = out.dim() == self.dim();
  int64_t at = out.dim();
  for (int64_t d = self.dim(); d-- > 0;) {
    Axis axis{self.sizes()[d], self.strides()[d] * self.itemsize(), 0, 0};
    bool reduced = r.dims >> d & 1;
    if (!reduced || keepdim) at--;
    if (!reduced) {
      axis.out = out.strides()[at] * out.itemsize();
      axis.out2 = out2 ? out2->strides()[at] * out2->itemsize() : 0;
    }
    (reduced ? w.reduced : w.kept).push_back(axis);
  }
  sort_and_merge(w.kept, true);
  sort_and_merge(w.reduced, !r.ordered);
  w.results = count(w.kept);
  w.length = count(w.reduced);
  if (w.results == 0) return;
  // Short rows would cost more calls than additions: their results are accumulated side by side, through the gathering buffers.
  bool rows = w.kept.empty() || (!w.reduced.empty() && w.reduced[0].in <= w.kept[0].in && (w.length > 16 || w.kept[0].size < 16)) || (w.kept[0].size < 4 && w.length > 64 && w.kept[0].in != w.in_size);
  if (rows)
    run_rows(w);
  else
    run_columns(w);
}

}  // namespace

void reduce(const Reduction& r, const Tensor& out, const Tensor* out2, const Tensor& self) {
  auto fits = [](const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : empty(t.sizes(), dtype, t.device()); };
  if (out.dtype() == r.loop->out && (!out2 || out2->dtype() == r.loop->out2)) return reduce_into(r, out, out2, self);
  Tensor wide = fits(out, r.loop->out), wide2 = out2 ? fits(*out2, r.loop->out2) : Tensor();
  reduce_into(r, wide, out2 ? &wide2 : nullptr, self);
  if (!wide.is_same(out)) convert_copy(out, wide);
  if (out2 && !wide2.is_same(*out2)) convert_copy(*out2, wide2);
}

}  // namespace trine::cpu
