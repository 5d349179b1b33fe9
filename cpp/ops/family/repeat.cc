// Kernels and schemas of tile and expand.
#include "core/second_gradient.h"
#include "ops/family/of_complex.h"
#include "core/widening.h"
#include "ops/family/repeat.h"

#include <cstring>

#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

const char* times_of(const OpDesc& op) { return op.attr("repeat_times") != nullptr ? "repeat_times" : "expand_times"; }

TensorAttrs repeat_ports_of(const OpDesc& op) {
  if (op.attr("repeat_times") != nullptr) return {{"repeat_times", "RepeatTimes", "repeat_times_tensor"}};
  return {{"expand_times", "ExpandTimes", "expand_times_tensor"}};
}

AxisIndexMaps repeat_index_maps(const OpDesc& op, const Shape& x) {
  const char* name = times_of(op);
  Ints times = attr_of<Ints>(op, name);
  // expand, the older operator, requires a number for each axis.
  if (std::strcmp(name, "expand_times") == 0) {
    require<ShapeError>(static_cast<int>(times.size()) == x.rank(), "expand_times is ", times.size(), ", X ", x.str(),
                        " has ", x.rank(), " dimensions");
  }
  Shape whole;
  for (int i = x.rank(); i < static_cast<int>(times.size()); ++i) whole.push_back(1);
  for (int64_t dim : x) whole.push_back(dim);
  times.insert(times.begin(), static_cast<size_t>(whole.rank()) - times.size(), 1);
  AxisIndexMaps index_maps = unchanged_axes(whole);
  for (size_t i = 0; i < index_maps.size(); ++i) {
    require<ProgramError>(times[i] > 0, name, " has ", times[i], ", all elements must be positive");
    if (times[i] == 1) continue;
    index_maps[i].pad_mode = AxisIndexMap::PadMode::Wrap;
    index_maps[i].out = index_maps[i].in < 0 ? -1 : index_maps[i].in * times[i];
  }
  return index_maps;
}

Shape repeat_out_shape(InferContext& c) {
  TensorAttrs ports = repeat_ports_of(c.op());
  const Shape& x = c.shape("X");
  if (auto op = settled(c, ports)) return shape_of(repeat_index_maps(*op, x));
  return open_shape(std::max<int64_t>(x.rank(), number_count(c, ports[0])));
}

struct RepeatKernel : AxisCopyKernel {
  explicit RepeatKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"),
                       repeat_index_maps(settled(init, repeat_ports_of(init.op())), init.input("X")->tensor.shape)) {}
};

template <class T>
struct RepeatGradKernel : AxisCopyGradKernel<T> {
  explicit RepeatGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              repeat_index_maps(settled(init, repeat_ports_of(init.op())),
                                                init.output("X@GRAD")->tensor.shape)) {}
};

}  // namespace

void add_repeat(OpTable& ops, const char* type, const char* gradient_type, const char* times) {
  TensorAttrs ports = repeat_ports_of(make_op(type, {}, {}, {{times, Ints{}}}));
  ops.add(with_tensor_ports(OpSchema(type).input("X", "any shape").output("Out", "X's dimensions times the numbers"),
                            ports)
              .doc("Out = X repeated along each axis.")
              .attr(times, Ints{}, "the number of repetitions for each axis")
              .infer([](InferContext& c) {
                require_tensors(c);
                c.set_output("Out", c.input("X").dtype, repeat_out_shape(c));
              })
              .gradient(gradient_type, with_ports({"X", "Out@GRAD"}, ports), {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<RepeatKernel>());
  ops.add(also({DType::Bool},
               with_complex<RepeatGradKernel>(linear_gradient_of(ops, type)
                                                  .doc("X@GRAD = the sum of Out@GRAD over the copies of X.")
                                                  .shape_only("X")
                                                  .kernels<RepeatGradKernel, float, double, int32_t, int64_t>())));
}

}  // namespace paddle_mini
