// Random bits: the engines, their state, and the streams that operators draw from.
//
// The default engine is MT19937 and hands out PyTorch's own CPU stream for a seed; its state has PyTorch's byte layout, so
// that states can be exchanged. The engine "philox" is counter-based (Philox4x32-10): word i is a function of the seed
// and i alone, the same on every device.
#pragma once
#include <mutex>
#include <optional>
#include <string_view>

#include "tensor/tensor.h"

namespace trine {

enum class Engine : uint8_t { Mt19937, Philox };

class Mt19937 {
 public:
  static constexpr int kWords = 624;
  explicit Mt19937(uint64_t seed = 5489);
  uint32_t next() {
    uint32_t word;
    fill(&word, 1);
    return word;
  }
  void fill(uint32_t* out, int64_t n);

  // What PyTorch's serialised state holds. `left` counts down to the next regeneration and is 1 when none is left.
  uint32_t state[kWords];
  int32_t left = 1;
  uint32_t next_index = 0;
};

struct Philox {
  uint64_t key = 0;
  uint64_t position = 0;  // in words
  void fill(uint32_t* out, int64_t n);
};

// The inner loops, replaced by the fastest versions for this processor when the CPU backend starts.
struct EngineLoops {
  void (*twist)(uint32_t* state);                                     // the next 624 words of MT19937
  void (*temper)(const uint32_t* state, uint32_t* out, int64_t n);
  void (*philox)(uint64_t key, uint64_t block, uint32_t* out, int64_t blocks);  // four words a block
};
extern EngineLoops engine_loops;

class Generator final : public RefCounted {
 public:
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit Generator(uint64_t seed = kDefaultSeed, Engine engine = Engine::Mt19937, Device device = {});
  void destroy() { delete this; }
  Ptr<Generator> clone() const;

  Engine engine() const { return engine_; }
  std::string_view engine_name() const { return engine_ == Engine::Philox ? "philox" : "mt19937"; }
  Device device() const { return device_; }

  // To be held around all that follows: an operator holds it for as long as it draws.
  std::mutex& mutex() const { return mutex_; }

  void manual_seed(uint64_t seed);
  uint64_t seed();  // a fresh seed from the operating system; returns it
  uint64_t initial_seed() const { return initial_seed_; }

  // A uint8 tensor: 5056 bytes in PyTorch's layout for MT19937; seed and position, 16 bytes, for Philox.
  Tensor get_state() const;
  void set_state(const Tensor& state);

  void fill(uint32_t* out, int64_t n) { engine_ == Engine::Mt19937 ? mt_.fill(out, n) : philox_.fill(out, n); }
  uint32_t random() {
    uint32_t word;
    fill(&word, 1);
    return word;
  }
  uint64_t random64() {  // the first word drawn is the upper half
    uint32_t words[2];
    fill(words, 2);
    return static_cast<uint64_t>(words[0]) << 32 | words[1];
  }
  double uniform_double() { return static_cast<double>(random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }
  // Standard normal by Box and Muller, one at a time; the second number of a pair waits for the next call.
  double normal_double();

 private:
  mutable std::mutex mutex_;
  Engine engine_;
  Device device_;
  uint64_t initial_seed_;
  Mt19937 mt_;
  Philox philox_;
  std::optional<double> next_normal_;
};

Engine parse_engine(std::string_view name);  // throws ValueError
Generator& default_generator();
inline Generator& generator_or_default(Generator* g) { return g ? *g : default_generator(); }

}  // namespace trine
