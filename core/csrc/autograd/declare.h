// Modes of this thread that generated dispatchers and kernels may ask about.
#pragma once

namespace trine {

struct GradModes {
  bool grad = true;
  bool inference = false;
  int forward_levels = 0;  // nested forward-mode levels
};
extern thread_local GradModes grad_modes;

inline bool grad_enabled() { return grad_modes.grad; }
inline bool forward_mode() { return grad_modes.forward_levels > 0; }

class GradMode {
 public:
  explicit GradMode(bool on) : saved_(grad_modes.grad) { grad_modes.grad = on; }
  ~GradMode() { grad_modes.grad = saved_; }
  GradMode(const GradMode&) = delete;

 private:
  bool saved_;
};

}  // namespace trine
