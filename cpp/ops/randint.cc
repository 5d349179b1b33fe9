// randint: Out = integers drawn uniformly from [low, high)
#include "core/op_table.h"
#include "math/random.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttr kRandintShape{"shape", "ShapeTensor", "ShapeTensorList"};

template <class T>
struct RandintKernel : Kernel {
  Out<T> out;
  T low, high;
  int64_t seed;

  explicit RandintKernel(KernelInit& init)
      : out(init, "Out"), low(init.attr<int32_t>("low")), high(init.attr<int32_t>("high")),
        seed(init.attr<int32_t>("seed")) {}

  void run(KernelContext& context) override {
    with_generator(context, seed, [&](std::mt19937_64& generator) {
      make_on_host(context, out.numel(), out.data(), [&](T* to) {
        std::uniform_int_distribution<T> draw(low, high - 1);
        generate(context, to, out.numel(), [&] { return draw(generator); });
      });
    });
  }
};

}  // namespace

void define_randint(OpTable& ops) {
  ops.add(with_tensor_ports(OpSchema("randint").output("Out", "the attribute `shape` is its shape"), {kRandintShape})
              .doc("Each element of Out is an integer drawn uniformly from [low, high).")
              .attr("shape", std::vector<int64_t>{}, "shape of Out; empty: one element")
              .attr("dtype", static_cast<int32_t>(DType::Int64), "element type of Out, int32 or int64")
              .required_attr("low", AttrType::Int, "the least integer")
              .required_attr("high", AttrType::Int, "the integer after the greatest one")
              .attr("seed", 0, "seed of a generator that restarts in each run; 0: the executor's generator continues")
              .infer([](InferContext& c) {
                int32_t low = c.attr<int32_t>("low"), high = c.attr<int32_t>("high");
                require<ProgramError>(low < high, "attribute 'low' is ", low, ", which is not below 'high', ", high);
                c.set_output("Out", c.dtype_attr("dtype"), settled_shape(c, kRandintShape));
              })
              .no_gradient("its input is a shape, which has no gradient")
              .dtype_from_output("Out")
              .on_gpu()
              .kernels<RandintKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
