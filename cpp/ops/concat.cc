// concat: Out = the tensors X concatenated along an axis
#include "core/second_gradient.h"
#include "ops/family/parts.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttrs kConcatPorts{{"axis", "AxisTensor"}};

// Creates the kernel that joins the parts along the axis, or splits the whole, by the shapes of X.
SplitOrConcatKernel concat_parts_of(const KernelInit& init, Variable* whole, std::vector<Variable*> parts, bool join) {
  int axis = normal_axis(attr_of<int32_t>(settled(init, kConcatPorts), "axis"), whole->tensor.shape.rank(), "axis");
  std::vector<int64_t> numels;
  for (const Variable* x : inputs_of(init, "X")) numels.push_back(x->tensor.shape.numel(axis, x->tensor.shape.rank()));
  return SplitOrConcatKernel(whole, std::move(parts), std::move(numels), whole->tensor.shape.numel(0, axis), join);
}

struct ConcatKernel : SplitOrConcatKernel {
  explicit ConcatKernel(KernelInit& init)
      : SplitOrConcatKernel(concat_parts_of(init, init.output("Out"), inputs_of(init, "X"), true)) {}
};

struct ConcatGradKernel : SplitOrConcatKernel {
  explicit ConcatGradKernel(KernelInit& init)
      : SplitOrConcatKernel(concat_parts_of(init, init.input("Out@GRAD"), outputs_of(init, "X@GRAD"), false)) {}
};

VarInfo concat_info(InferContext& c) {
  require_tensors(c);
  VarInfo out = c.input("X");
  require<ShapeError>(out.shape.rank() > 0, "X[0] has no dimensions, so there is no axis along which to concatenate");
  auto op = settled(c, kConcatPorts);
  if (!op) {
    out.shape = open_shape(out.shape.rank());
    return out;
  }
  int axis = normal_axis(attr_of<int32_t>(*op, "axis"), out.shape.rank(), "axis");
  for (size_t i = 1; i < c.input_count("X"); ++i) {
    const VarInfo& part = c.input("X", i);
    bool fits = part.shape.rank() == out.shape.rank();
    for (int d = 0; fits && d < out.shape.rank(); ++d) fits = d == axis || dims_agree(out.shape[d], part.shape[d]);
    require<ShapeError>(fits, "X[", i, "] has shape ", part.shape.str(), ", which can't be concatenated to ",
                        c.shape("X").str(), " along axis ", axis);
    require<ShapeError>(part.dtype == out.dtype, "X[", i, "] is ", name_of(part.dtype), ", X[0] is ",
                        name_of(out.dtype));
    for (int d = 0; d < out.shape.rank(); ++d) {
      if (d != axis) out.shape[d] = std::max(out.shape[d], part.shape[d]);
      else out.shape[d] = out.shape[d] < 0 || part.shape[d] < 0 ? -1 : out.shape[d] + part.shape[d];
    }
  }
  return out;
}

}  // namespace

void define_concat(OpTable& ops) {
  ops.add(
      with_tensor_ports(OpSchema("concat")
                            .input_list("X", "tensors of one element type, whose shapes may differ only along the axis")
                            .output("Out", "the shape of the Xs; along the axis, the sum of their sizes"),
                        kConcatPorts)
          .doc("Out = the tensors X one after the other along the axis.")
          .attr("axis", 0, "the axis; negative ones count from the end")
          .infer([](InferContext& c) { c.set_output("Out", concat_info(c)); })
          .gradient("concat_grad", with_ports({"X", "Out@GRAD"}, kConcatPorts), {"X@GRAD"})
          .splits_batch("X")
          .on_gpu()
          .kernel_for_any<ConcatKernel>());
  ops.add(linear_gradient_of(ops, "concat")
              .doc("Each X@GRAD is the slice of Out@GRAD at the position of X in Out.")
              .shape_only("X")
              .infer([](InferContext& c) {
                VarInfo out = concat_info(c);
                require_same_dtype(c, "X", "Out@GRAD");
                require<ShapeError>(shapes_agree(out.shape, c.shape("Out@GRAD")), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out has ", out.shape.str());
                require<ProgramError>(c.output_count("X@GRAD") <= c.input_count("X"), "there are ",
                                      c.output_count("X@GRAD"), " X@GRAD for ", c.input_count("X"), " X");
                gradients_like_inputs(c);
              })
              .kernel_for_any<ConcatGradKernel>());
}

}  // namespace paddle_mini
