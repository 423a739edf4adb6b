// Connectionist temporal classification (Graves et al. 2006): the loss by the forward recursion over the target with blanks between its
// labels, the gradient by the backward recursion. Everything is in logarithms; a line of the recursion is one vector operation.
#include "cpu/ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "cpu/dense.h"
#include "cpu/scratch.h"
#include "trine/kernels.h"

namespace trine::cpu {

TRINE_ISA_TABLE(ctc_step_float);
TRINE_ISA_TABLE(ctc_step_double);
TRINE_ISA_TABLE(ctc_occupation_float);
TRINE_ISA_TABLE(ctc_occupation_double);

namespace {

constexpr int64_t kFront = 2;  // impossible places before the first, so that steps need no condition

template <class T> constexpr T kNever = -std::numeric_limits<T>::infinity();

// One sample: its labels, and the places 0 .. 2 L of the target with blanks.
struct Target {
  const int64_t* labels;
  int64_t length, blank;
  int64_t places() const { return 2 * length + 1; }
  int64_t label(int64_t s) const { return s % 2 ? labels[s / 2] : blank; }
  bool may_skip(int64_t s) const { return s % 2 && s >= 2 && labels[s / 2] != labels[s / 2 - 1]; }
};

struct Batch {
  int64_t time, batch, classes, blank, stride = 0;  // stride: of padded targets [batch, stride]; 0 when they follow one another
  std::vector<int64_t> begin;                       // first label of each sample
  std::vector<int64_t> labels;
  DimsRef input_lengths, target_lengths;

  Target target(int64_t b) const { return {labels.data() + begin[static_cast<size_t>(b)], target_lengths[static_cast<size_t>(b)], blank}; }
};

Batch read(const Tensor& log_probs, const Tensor& targets, DimsRef input_lengths, DimsRef target_lengths, int64_t blank) {
  Batch b;
  b.time = log_probs.size(0), b.batch = log_probs.size(1), b.classes = log_probs.size(2), b.blank = blank;
  b.input_lengths = input_lengths, b.target_lengths = target_lengths;
  const Tensor flat = converted(targets, DType::Int64);
  b.labels.assign(flat.data<int64_t>(), flat.data<int64_t>() + flat.numel());
  int64_t at = 0;
  for (int64_t i = 0; i < b.batch; ++i) {
    b.begin.push_back(targets.dim() == 2 ? i * targets.size(1) : at);
    at += target_lengths[static_cast<size_t>(i)];
    const Target t = b.target(i);
    for (int64_t k = 0; k < t.length; ++k)
      TRINE_CHECK(t.labels[k] >= 0 && t.labels[k] < b.classes, "ctc_loss: targets must be classes between 0 and ", b.classes - 1, ", got ", t.labels[k]);
  }
  return b;
}

// Log-probabilities of the labels of all places at one time.
template <class T> void emissions(const T* log_probs, const Target& t, T* out) {
  for (int64_t s = 0; s < t.places(); s += 2) out[s] = log_probs[t.blank];
  for (int64_t k = 0; k < t.length; ++k) out[2 * k + 1] = log_probs[t.labels[k]];
}

}  // namespace

// loss [batch]; log_alpha [batch, time, 2 * longest target + 1] is kept for the gradient.
void ctc_forward(Tensor& loss, Tensor& log_alpha, const Tensor& log_probs, const Tensor& targets, DimsRef input_lengths, DimsRef target_lengths, int64_t blank, bool zero_infinity) {
  DenseOutput losses(loss), alphas(log_alpha);
  const Batch batch = read(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor p = plain(log_probs);
  const int64_t width = log_alpha.size(2), classes = batch.classes;
  TRINE_DISPATCH_FLOAT(log_probs.dtype(), "ctc_loss", {
    parallel_for(0, batch.batch, 1, [&](int64_t first, int64_t last) {
      Scratch<scalar_t> skip(width), emit(width), line(width + kFront);
      for (int64_t b = first; b < last; ++b) {
        const Target t = batch.target(b);
        const int64_t places = t.places(), steps = batch.input_lengths[static_cast<size_t>(b)];
        for (int64_t s = 0; s < places; ++s) skip[s] = t.may_skip(s) ? scalar_t(0) : kNever<scalar_t>;
        std::fill(line.data(), line.data() + width + kFront, kNever<scalar_t>);
        scalar_t* now = line.data() + kFront;
        for (int64_t time = 0; time < steps; ++time) {
          const scalar_t* at = p.data<scalar_t>() + (time * batch.batch + b) * classes;
          scalar_t* alpha = alphas.data<scalar_t>() + (b * batch.time + time) * width;
          emissions(at, t, emit.data());
          if (time == 0) {
            std::fill(alpha, alpha + places, kNever<scalar_t>);
            alpha[0] = emit[0];
            if (places > 1) alpha[1] = emit[1];
          } else {
            ctc_step(now, skip.data(), emit.data(), alpha, places);
          }
          std::copy(alpha, alpha + places, now);
        }
        scalar_t result;
        if (steps == 0) {
          result = t.length == 0 ? scalar_t(0) : -kNever<scalar_t>;
        } else {
          const scalar_t x = now[places - 1], y = places > 1 ? now[places - 2] : kNever<scalar_t>, top = std::max(x, y);
          result = top == kNever<scalar_t> ? -top : -(top + std::log(std::exp(x - top) + std::exp(y - top)));
        }
        losses.data<scalar_t>()[b] = zero_infinity && std::isinf(result) && result > 0 ? scalar_t(0) : result;
      }
    });
  });
  losses.finish();
  alphas.finish();
}

// The gradient with respect to log-probabilities that are normalised: (p - occupation of the labels) times the loss's gradient.
void ctc_backward(Tensor& grad, const Tensor& grad_loss, const Tensor& log_probs, const Tensor& targets, DimsRef input_lengths, DimsRef target_lengths, const Tensor& loss, const Tensor& log_alpha,
                  int64_t blank, bool zero_infinity) {
  DenseOutput out(grad);
  const Batch batch = read(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor p = plain(log_probs), g = plain(grad_loss), losses = plain(loss), alphas = plain(log_alpha);
  const int64_t width = log_alpha.size(2), classes = batch.classes;
  zero_fill(out.tensor());
  TRINE_DISPATCH_FLOAT(log_probs.dtype(), "ctc_loss_backward", {
    parallel_for(0, batch.batch, 1, [&](int64_t first, int64_t last) {
      // The backward recursion runs over reversed lines: place r is place (places - 1 - r) of the target.
      Scratch<scalar_t> skip(width), emit(width), reversed(width), line(width + kFront), beta(width), occupied(width);
      for (int64_t b = first; b < last; ++b) {
        const Target t = batch.target(b);
        const int64_t places = t.places(), steps = batch.input_lengths[static_cast<size_t>(b)];
        const scalar_t nll = losses.data<scalar_t>()[b], scale = g.data<scalar_t>()[b];
        // Impossible targets: their alphas never reach the end.
        const scalar_t* last_alpha = alphas.data<scalar_t>() + (b * batch.time + std::max<int64_t>(steps - 1, 0)) * width;
        const bool impossible = steps > 0 && last_alpha[places - 1] == kNever<scalar_t> && (places < 2 || last_alpha[places - 2] == kNever<scalar_t>);
        if (impossible && zero_infinity) continue;
        for (int64_t r = 0; r < places; ++r) skip[r] = r >= 2 && t.may_skip(places - 1 - (r - 2)) ? scalar_t(0) : kNever<scalar_t>;
        std::fill(line.data(), line.data() + width + kFront, kNever<scalar_t>);
        scalar_t* now = line.data() + kFront;
        for (int64_t time = steps; time-- > 0;) {
          const scalar_t* at = p.data<scalar_t>() + (time * batch.batch + b) * classes;
          const scalar_t* alpha = alphas.data<scalar_t>() + (b * batch.time + time) * width;
          scalar_t* to = out.data<scalar_t>() + (time * batch.batch + b) * classes;
          emissions(at, t, emit.data());
          std::reverse_copy(emit.data(), emit.data() + places, reversed.data());
          if (time == steps - 1) {
            std::fill(beta.data(), beta.data() + places, kNever<scalar_t>);
            beta[0] = reversed[0];
            if (places > 1) beta[1] = reversed[1];
          } else {
            ctc_step(now, skip.data(), reversed.data(), beta.data(), places);
          }
          std::copy(beta.data(), beta.data() + places, now);
          std::reverse_copy(beta.data(), beta.data() + places, reversed.data());
          if (impossible) {
            std::fill(to, to + classes, std::numeric_limits<scalar_t>::quiet_NaN());
            continue;
          }
          ctc_occupation(alpha, reversed.data(), emit.data(), nll, occupied.data(), places);
          for (int64_t c = 0; c < classes; ++c) to[c] = std::exp(at[c]);
          for (int64_t s = 0; s < places; ++s) to[t.label(s)] -= occupied[s];
          for (int64_t c = 0; c < classes; ++c) to[c] *= scale;
        }
      }
    });
  });
  out.finish();
}

}  // namespace trine::cpu
