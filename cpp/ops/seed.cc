// seed: Out = the seed of a later operator
#include "core/op_table.h"
#include "math/random.h"

namespace paddle_mini {
namespace {

struct SeedKernel : Kernel {
  Out<int32_t> out;
  int32_t seed;

  explicit SeedKernel(KernelInit& init) : out(init, "Out"), seed(init.attr<int32_t>("seed")) {}
  void run(KernelContext& context) override {
    with_generator(context, 0, [&](std::mt19937_64& generator) {
      make_on_host(context, 1, out.data(), [&](int32_t* to) {
        *to = seed ? seed : std::uniform_int_distribution<int32_t>(1, INT32_MAX)(generator);
      });
    });
  }
};

}  // namespace

void define_seed(OpTable& ops) {
  ops.add(
      OpSchema("seed")
          .doc("Out = `seed`, or if it is 0 a seed that is drawn in each run. Operators that compute a dropout again "
               "give both dropouts the same seed by it.")
          .output("Out", "[1], int32")
          .attr("seed", 0, "the seed; 0: each run draws one")
          .attr("deterministic", false, "not used: PaddlePaddle's generators of parallel models")
          .attr("rng_name", "", "not used: PaddlePaddle's generators of parallel models")
          .attr("force_cpu", false, "not used: the place of the operator determines it")
          .infer([](InferContext& c) { c.set_output("Out", DType::Int32, Shape{1}); })
          .no_gradient("it has no inputs")
          .on_gpu()
          .kernel_for_any<SeedKernel>());
}

}  // namespace paddle_mini
