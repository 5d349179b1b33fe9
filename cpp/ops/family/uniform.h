// Uniformly distributed numbers: uniform_random, uniform_random_batch_size_like.
#pragma once

#include <algorithm>

#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {

template <class T>
struct UniformRandomKernel : Kernel {
  Out<T> out;
  T low, high, diagonal;
  int64_t seed, diagonal_count, diagonal_step;

  explicit UniformRandomKernel(KernelInit& init)
      : out(init, "Out"), low(static_cast<T>(init.attr<float>("min"))), high(static_cast<T>(init.attr<float>("max"))),
        diagonal(static_cast<T>(init.attr<float>("diag_val"))), seed(init.attr<int32_t>("seed")),
        diagonal_count(init.attr<int32_t>("diag_num")), diagonal_step(init.attr<int32_t>("diag_step")) {}

  void run(KernelContext& context) override {
    with_generator(context, seed, [&](std::mt19937_64& generator) {
      make_on_host(context, out.numel(), out.data(), [&](T* to) {
        std::uniform_real_distribution<T> draw(low, high);
        generate(context, to, out.numel(), [&] { return draw(generator); });
        for (int64_t i = 0; i < diagonal_count; ++i) to[i * (diagonal_step + 1)] = diagonal;
      });
    });
  }
};

inline void check_uniform(const InferContext& c, const Shape& shape) {
  float low = c.attr<float>("min"), high = c.attr<float>("max");
  require<ProgramError>(low <= high, "attribute 'min' is ", low, ", which is not at most 'max', ", high);
  int64_t count = c.attr<int32_t>("diag_num"), step = c.attr<int32_t>("diag_step");
  bool fits = count == 0 || !shape.known() || (count - 1) * (step + 1) < shape.numel();
  require<ProgramError>(fits, "attribute 'diag_num' is ", count, ": that number of elements, ", step + 1,
                        " apart, does not fit into ", shape.str());
}

inline OpSchema with_bounds(OpSchema schema) {
  return schema.attr("min", -1.0f, "lower bound")
      .attr("max", 1.0f, "upper bound")
      .attr("seed", 0, "seed of a generator that restarts in each run; 0: the executor's generator continues")
      .attr("diag_num", 0, "the number of elements, from the first one on, that are set to diag_val", at_least(0))
      .attr("diag_step", 0, "the distance between two of them", at_least(0))
      .attr("diag_val", 1.0f, "their value");
}

}  // namespace paddle_mini
