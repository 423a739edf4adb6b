// Inference mode, as far as tensors know it.
#pragma once

namespace trine {

// Tensors that this thread makes from now on count no versions and take no gradients. Gives the former setting.
bool set_inference_tensors(bool on);

}  // namespace trine
