// How files of kernels/ fill tables when the library is loaded. That code runs on every processor, whatever instructions its file is
// compiled for.
#pragma once

namespace trine::cpu {
// Volatile: the compiler does not join the stores of neighbouring entries into vector instructions, which older processors lack.
template <class T, class V> inline void isa_register(T& entry, V value) { const_cast<volatile T&>(entry) = value; }
}  // namespace trine::cpu
