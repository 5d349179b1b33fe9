// Masks of dropout on a GPU. BernoulliMask computes each element from a key and the element's index.
#pragma once

#include <optional>

#include "math/copy.h"
#include "math/for_each_index.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

// keep[i] = whether random number i in [0, 1) is at least the probability. The number comes from one of the words of
// Philox4x32-10 (Salmon et al. 2011) for counter i / 4.
struct BernoulliMask {
  ScalarArg<int64_t> seed;  // 0: `drawn` is the key
  uint64_t drawn;
  float probability;
  uint8_t* keep;
  int64_t n;

  PM_DEVICE void operator()(int64_t group) const {
    int64_t own = seed();
    uint64_t key = own ? static_cast<uint64_t>(own) : drawn, at = static_cast<uint64_t>(group);
    uint32_t k[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
    uint32_t c[4] = {static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0};
    for (int round = 0; round < 10; ++round, k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u) {
      uint64_t a = uint64_t{0xD2511F53u} * c[0], b = uint64_t{0xCD9E8D57u} * c[2];
      uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
                          static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
      for (int i = 0; i < 4; ++i) c[i] = next[i];
    }
    for (int i = 0; i < 4 && 4 * group + i < n; ++i) {
      keep[4 * group + i] = !(static_cast<float>(c[i] >> 8) * 0x1p-24f < probability);
    }
  }
};

// With a seed that the host knows, the mask is the same as on a CPU. If each run draws another mask, or the host can't read
// the seed, the GPU computes the mask, which takes no host time.
inline void fill_mask(KernelContext& context, const std::optional<IndexIn>& seed_tensor, int64_t seed,
                      float probability, uint8_t* keep, int64_t n) {
  if (seed_tensor || seed == 0) {
    require_not_recorded(context);
    ScalarArg<int64_t> own = seed_tensor ? ScalarArg<int64_t>(*seed_tensor) : ScalarArg<int64_t>(0);
    for_each_index(context, (n + 3) / 4, BernoulliMask{own, context.generator(), probability, keep, n});
    return;
  }
  with_generator(context, seed, [&](std::mt19937_64& generator) {
    make_on_host(context, n, keep, [&](uint8_t* to) { draw_mask(generator, probability, to, n); });
  });
}

}  // namespace paddle_mini
