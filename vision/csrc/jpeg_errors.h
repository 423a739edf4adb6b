// libjpeg's error callbacks as C++ exceptions. A callback may not throw through C frames, so it jumps back to
// `guard_jpeg`, which throws. What runs inside the guard must own nothing: a jump runs no destructors.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

#include <jpeglib.h>

#include "image.h"

namespace trine::vision {

struct JpegErrors {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer is a pointer to the whole
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX];

  jpeg_error_mgr* install() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr common) {
      auto* self = reinterpret_cast<JpegErrors*>(common->err);
      common->err->format_message(common, self->message);
      std::longjmp(self->jump, 1);
    };
    // Warnings about damaged data are counted by libjpeg; nothing may be printed.
    manager.output_message = [](j_common_ptr) {};
    return &manager;
  }
};

[[noreturn]] inline void throw_jpeg(j_common_ptr common, const char* message) {
  auto* self = reinterpret_cast<JpegErrors*>(common->err);
  std::snprintf(self->message, sizeof self->message, "%s", message);
  std::longjmp(self->jump, 1);
}

template <class Work>
void guard_jpeg(const char* name, JpegErrors& errors, const Work& work) {
  if (setjmp(errors.jump) == 0) {
    work();
    return;
  }
  throw ImageError(std::string(name) + ": " + errors.message);
}

}  // namespace trine::vision
