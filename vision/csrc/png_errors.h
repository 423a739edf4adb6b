// libpng's error callback as C++ exceptions; the same scheme as jpeg_errors.h, with the same rule: what runs inside
// `guard_png` must own nothing, because a jump runs no destructors.
#pragma once

#include <csetjmp>
#include <cstdio>
#include <string>

#include <png.h>

#include "image.h"

namespace trine::vision {

struct PngErrors {
  char message[256] = "not enough memory";

  static void fail(png_structp png, png_const_charp text) {
    auto* self = static_cast<PngErrors*>(png_get_error_ptr(png));
    std::snprintf(self->message, sizeof self->message, "%s", text);
    png_longjmp(png, 1);
  }

  static void ignore(png_structp, png_const_charp) {}
};

template <class Work>
void guard_png(const char* name, png_structp png, const PngErrors& errors, const Work& work) {
  if (setjmp(png_jmpbuf(png)) == 0) {
    work();
    return;
  }
  throw ImageError(std::string(name) + ": " + errors.message);
}

}  // namespace trine::vision
