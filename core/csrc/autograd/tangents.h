// The end of a forward-mode level.
#pragma once

namespace trine::autograd {

// Takes the tangents that this thread has set off all tensors.
void drop_tangents();

}  // namespace trine::autograd
