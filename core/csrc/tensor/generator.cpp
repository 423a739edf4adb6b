#include "tensor/generator.h"

#include <cmath>
#include <cstddef>
#include <random>

namespace trine {
namespace {

void twist_portable(uint32_t* s) {
  auto mix = [](uint32_t u, uint32_t v) {
    uint32_t y = (u & 0x80000000u) | (v & 0x7fffffffu);
    return (y >> 1) ^ (v & 1u ? 0x9908b0dfu : 0u);
  };
  for (int i = 0; i < 227; i++) s[i] = s[i + 397] ^ mix(s[i], s[i + 1]);
  for (int i = 227; i < 623; i++) s[i] = s[i - 227] ^ mix(s[i], s[i + 1]);
  s[623] = s[396] ^ mix(s[623], s[0]);
}

void temper_portable(const uint32_t* state, uint32_t* out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    uint32_t y = state[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
void philox_portable(uint64_t key, uint64_t block, uint32_t* out, int64_t blocks) {
  for (int64_t b = 0; b < blocks; b++) {
    uint64_t counter = block + static_cast<uint64_t>(b);
    uint32_t c0 = static_cast<uint32_t>(counter), c1 = static_cast<uint32_t>(counter >> 32), c2 = 0, c3 = 0;
    uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; round++) {
      uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
      uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0, n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<uint32_t>(p1);
      c3 = static_cast<uint32_t>(p0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    out[4 * b] = c0;
    out[4 * b + 1] = c1;
    out[4 * b + 2] = c2;
    out[4 * b + 3] = c3;
  }
}

// PyTorch's CPU generator state, byte for byte.
struct TorchState {
  uint64_t initial_seed;
  int32_t left;
  int32_t seeded;
  uint64_t next;
  uint64_t state[Mt19937::kWords];
  double normal_x, normal_y, normal_rho;
  int32_t normal_is_valid;
  int32_t padding;
  float next_float_normal;
  uint8_t next_float_normal_is_valid;
  uint8_t tail[3];
};
static_assert(sizeof(TorchState) == 5056);

struct PhiloxState {
  uint64_t key, position;
};

}  // namespace

EngineLoops engine_loops{twist_portable, temper_portable, philox_portable};

Mt19937::Mt19937(uint64_t seed) {
  state[0] = static_cast<uint32_t>(seed);
  for (uint32_t i = 1; i < kWords; i++) state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

void Mt19937::fill(uint32_t* out, int64_t n) {
  while (n > 0) {
    if (left <= 1) {
      engine_loops.twist(state);
      left = kWords + 1;
      next_index = 0;
    }
    int64_t take = left - 1 < n ? left - 1 : n;
    engine_loops.temper(state + next_index, out, take);
    left -= static_cast<int32_t>(take);
    next_index += static_cast<uint32_t>(take);
    out += take;
    n -= take;
  }
}

void Philox::fill(uint32_t* out, int64_t n) {
  uint32_t block[4];
  for (; n > 0 && position % 4 != 0; n--) {
    engine_loops.philox(key, position / 4, block, 1);
    *out++ = block[position++ % 4];
  }
  engine_loops.philox(key, position / 4, out, n / 4);
  out += n / 4 * 4;
  position += static_cast<uint64_t>(n / 4 * 4);
  for (n %= 4; n > 0; n--) {
    engine_loops.philox(key, position / 4, block, 1);
    *out++ = block[position++ % 4];
  }
}

Generator::Generator(uint64_t seed, Engine engine, Device device) : engine_(engine), device_(device), initial_seed_(seed) {
  TRINE_CHECK(device.type == DeviceType::CPU, "Generator: only the device 'cpu' has a generator here");
  manual_seed(seed);
}

Ptr<Generator> Generator::clone() const {
  std::lock_guard lock(mutex_);
  auto copy = Ptr<Generator>::adopt(new Generator(initial_seed_, engine_, device_));
  copy->mt_ = mt_;
  copy->philox_ = philox_;
  copy->next_normal_ = next_normal_;
  return copy;
}

void Generator::manual_seed(uint64_t seed) {
  initial_seed_ = seed;
  mt_ = Mt19937(seed);
  philox_ = Philox{seed, 0};
  next_normal_.reset();
}

uint64_t Generator::seed() {
  std::random_device entropy;
  uint64_t value = static_cast<uint64_t>(entropy()) << 32 | entropy();
  manual_seed(value);
  return value;
}

double Generator::normal_double() {
  if (next_normal_) {
    double value = *next_normal_;
    next_normal_.reset();
    return value;
  }
  double u1 = uniform_double(), u2 = uniform_double();
  double radius = std::sqrt(-2.0 * std::log1p(-u2)), angle = 2.0 * 3.141592653589793 * u1;
  next_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

Tensor Generator::get_state() const {
  if (engine_ == Engine::Philox) {
    PhiloxState s{philox_.key, philox_.position};
    Tensor out = empty(Dims{static_cast<int64_t>(sizeof s)}, DType::UInt8);
    std::memcpy(out.data(), &s, sizeof s);
    return out;
  }
  TorchState s{};
  s.initial_seed = initial_seed_;
  s.left = mt_.left;
  s.seeded = 1;
  s.next = mt_.next_index;
  for (int i = 0; i < Mt19937::kWords; i++) s.state[i] = mt_.state[i];
  s.normal_is_valid = next_normal_.has_value();
  s.normal_y = next_normal_.value_or(0.0);
  Tensor out = empty(Dims{static_cast<int64_t>(sizeof s)}, DType::UInt8);
  std::memcpy(out.data(), &s, sizeof s);
  return out;
}

void Generator::set_state(const Tensor& state) {
  int64_t want = static_cast<int64_t>(engine_ == Engine::Philox ? sizeof(PhiloxState) : sizeof(TorchState));
  TRINE_CHECK_TYPE(state.defined() && state.dtype() == DType::UInt8 && state.is_cpu(), "set_state: RNG state must be a torch.ByteTensor, got ",
                   state.defined() ? name(state.dtype()) : "None");
  // States of older PyTorch releases lack the last eight bytes.
  bool legacy = engine_ == Engine::Mt19937 && state.numel() == static_cast<int64_t>(offsetof(TorchState, next_float_normal));
  TRINE_CHECK(state.is_contiguous() && (state.numel() == want || legacy), "set_state: the state of the engine '", engine_name(), "' has ", want,
              " contiguous bytes, got a tensor of size ", state.sizes());
  if (engine_ == Engine::Philox) {
    PhiloxState s;
    std::memcpy(&s, state.data(), sizeof s);
    philox_ = Philox{s.key, s.position};
    initial_seed_ = s.key;
    return;
  }
  TorchState s{};
  std::memcpy(&s, state.data(), static_cast<size_t>(state.numel()));
  TRINE_CHECK(s.left >= 1 && s.left <= Mt19937::kWords && s.next <= Mt19937::kWords &&
                  (s.left == 1 || s.next == static_cast<uint64_t>(Mt19937::kWords + 1 - s.left)),
              "set_state: the tensor holds no valid state of the engine 'mt19937'");
  initial_seed_ = s.initial_seed;
  mt_.left = s.left;
  mt_.next_index = static_cast<uint32_t>(s.next);
  for (int i = 0; i < Mt19937::kWords; i++) mt_.state[i] = static_cast<uint32_t>(s.state[i]);
  next_normal_ = s.normal_is_valid ? std::optional<double>(s.normal_y) : std::nullopt;
}

Engine parse_engine(std::string_view name) {
  if (name == "mt19937") return Engine::Mt19937;
  TRINE_CHECK_VALUE(name == "philox", "Generator: engine must be 'mt19937' or 'philox', got '", name, "'");
  return Engine::Philox;
}

Generator& default_generator() {
  // Never destroyed: worker threads may still draw while the process ends.
  static Generator* generator = new Generator();
  return *generator;
}

}  // namespace trine
