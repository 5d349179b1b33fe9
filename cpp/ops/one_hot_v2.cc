// one_hot_v2: Out = 1 at the position that X names along a new last axis, 0 elsewhere
#include <algorithm>

#include "core/op_table.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttrs kOneHotV2Ports{{"depth", "depth_tensor"}};

[[noreturn]] void refuse_position(int64_t value, int64_t at, int64_t depth) {
  fail<OpError>("X has ", value, " at position ", at, ", it must be in 0 to ", depth - 1);
}

template <class T>
struct OneHotKernel : Kernel {
  IndexIn x;
  Out<T> out;
  int64_t depth;
  bool anything;

  explicit OneHotKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), depth(out.shape()[x.shape().rank()]),
        anything(init.attr<bool>("allow_out_of_range")) {}

  void run(KernelContext& context) override;
  void refuse(const Fault& fault) const override { refuse_position(fault.value, fault.at, depth); }
  bool may_fail_validation() const override { return !anything; }
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(one_hot_v2)

namespace paddle_mini {

void define_one_hot_v2(OpTable& ops) {
  ops.add(with_tensor_ports(
              OpSchema("one_hot_v2").input("X", "any shape, int32 or int64").output("Out", "shape of X, then depth"),
              kOneHotV2Ports)
              .doc("Out[i..., X[i...]] = 1, and all other elements are 0. A position out of range is an error or, with "
                   "allow_out_of_range, gives a row of zeros.")
              .attr("depth", -1, "the number of positions")
              .attr("dtype", static_cast<int32_t>(DType::Float32), "element type of Out")
              .attr("allow_out_of_range", false, "whether a position out of range gives zeros")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_index(c, "X");
                auto op = settled(c, kOneHotV2Ports);
                int32_t depth = op ? attr_of<int32_t>(*op, "depth") : -1;
                require<ProgramError>(depth > 0 || !op, "'depth' is ", depth, ", it must be positive");
                Shape out = c.shape("X");
                out.push_back(depth);
                if (out.known()) out.numel();  // refuses a shape that is too large
                c.set_output("Out", c.dtype_attr("dtype"), out);
              })
              .no_gradient("positions are integers, which have no gradient")
              .checks_data()
              .dtype_from_output("Out")
              .on_gpu()
              .kernels<OneHotKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
