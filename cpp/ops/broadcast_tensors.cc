// broadcast_tensors: Out = each tensor of X broadcast to the shape that fits all
#include "math/axis_index_map.h"
#include "math/broadcast.h"

namespace paddle_mini {
namespace {

struct BroadcastTensorsKernel : Kernel {
  std::vector<AxisCopyKernel> copies;

  explicit BroadcastTensorsKernel(KernelInit& init) {
    for (size_t i = 0; i < init.input_count("X"); ++i) {
      const Variable* x = init.input("X", i);
      Variable* out = init.output("Out", i);
      if (out) copies.emplace_back(x, out, broadcast_maps(x->tensor.shape, out->tensor.shape, "Out"));
    }
  }
  void run(KernelContext& context) override {
    for (AxisCopyKernel& copy : copies) copy.run(context);
  }
};

template <class T>
struct BroadcastTensorsGradKernel : Kernel {
  struct Sum {
    In<T> out_gradient;
    Out<T> x_gradient;
    AxisLoop loop;
  };
  std::vector<Sum> sums;

  explicit BroadcastTensorsGradKernel(KernelInit& init) {
    for (size_t i = 0; i < init.output_count("X@GRAD"); ++i) {
      if (!init.output("X@GRAD", i)) continue;  // this gradient is not needed
      In<T> from(init, "Out@GRAD", i);
      Out<T> to(init, "X@GRAD", i);
      sums.push_back({from, to, AxisLoop(broadcast_maps(to.shape(), from.shape(), "Out@GRAD"))});
    }
  }
  void run(KernelContext& context) override {
    for (Sum& one : sums) one.loop.add_back(context, one.out_gradient.data(), one.x_gradient.data());
  }
};

// The shape to which all tensors of X are broadcast.
Shape common_shape(const InferContext& c) {
  require_tensors(c);
  Shape common = c.shape("X");
  for (size_t i = 1; i < c.input_count("X"); ++i) {
    common = broadcast_shape(common, c.input("X", i).shape, -1);
    require<ShapeError>(c.input("X", i).dtype == c.input("X").dtype, "X[", i, "] is ", name_of(c.input("X", i).dtype),
                        ", X[0] is ", name_of(c.input("X").dtype));
  }
  return common;
}

void infer_broadcast_tensors(InferContext& c) {
  Shape common = common_shape(c);
  require<ProgramError>(c.output_count("Out") == c.input_count("X"), "there are ", c.output_count("Out"), " Out for ",
                        c.input_count("X"), " X");
  for (size_t i = 0; i < c.output_count("Out"); ++i) {
    VarInfo& out = c.output("Out", i);
    out = c.input("X", i);
    out.shape = common;
  }
}

void infer_broadcast_tensors_grad(InferContext& c) {
  Shape common = common_shape(c);
  require<ProgramError>(c.input_count("Out@GRAD") == c.input_count("X"), "there are ", c.input_count("Out@GRAD"),
                        " Out@GRAD for ", c.input_count("X"), " X");
  for (size_t i = 0; i < c.input_count("Out@GRAD"); ++i) {
    const VarInfo& gradient = c.input("Out@GRAD", i);
    require<ShapeError>(shapes_agree(gradient.shape, common) && gradient.dtype == c.input("X").dtype, "Out@GRAD[", i,
                        "] is ", gradient.str(), ", Out has shape ", common.str(), " and type ",
                        name_of(c.input("X").dtype));
  }
  require<ProgramError>(c.output_count("X@GRAD") <= c.input_count("X"), "there are ", c.output_count("X@GRAD"),
                        " X@GRAD for ", c.input_count("X"), " X");
  gradients_like_inputs(c);
}

}  // namespace

void define_broadcast_tensors(OpTable& ops) {
  ops.add(OpSchema("broadcast_tensors")
              .doc("Each Out = the tensor of X at its place, broadcast as in NumPy to the shape that fits all.")
              .input_list("X", "shapes that can be broadcast, of one element type")
              .output_list("Out", "the common shape")
              .infer(infer_broadcast_tensors)
              .gradient("broadcast_tensors_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<BroadcastTensorsKernel>());
  ops.add(ops.gradient_of("broadcast_tensors")
              .doc("Each X@GRAD = the sum of its Out@GRAD over the axes that were broadcast.")
              .shape_only("X")
              .infer(infer_broadcast_tensors_grad)
              .dtype_from_input("Out@GRAD")
              .kernels<BroadcastTensorsGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
