// concat: Out = the tensors X one after the other along an axis
#include <cstring>

#include "core/op_table.h"
#include "math/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttrs kPorts{{"axis", "AxisTensor"}};

// One of the tensors and its share of each row of bytes of the whole.
struct Part {
  Variable* variable;  // nullptr: a gradient nobody wants
  size_t bytes;
};

size_t bytes_from(const Tensor& tensor, int axis) {
  return static_cast<size_t>(tensor.shape.numel(axis, tensor.shape.rank())) * size_of(tensor.dtype);
}

struct ConcatKernel : Kernel {
  std::vector<Part> parts;
  Variable* out;
  int64_t rows;

  explicit ConcatKernel(KernelInit& init) : out(init.output("Out")) {
    int axis = normal_axis(attr_of<int32_t>(settled(init, kPorts), "axis"), out->tensor.shape.rank(), "axis");
    rows = out->tensor.shape.numel(0, axis);
    for (size_t i = 0; i < init.input_count("X"); ++i) {
      parts.push_back({init.input("X", i), bytes_from(init.input("X", i)->tensor, axis)});
    }
  }

  void run(Device&) override {
    char* to = static_cast<char*>(out->tensor.data);
    for (int64_t row = 0; row < rows; ++row) {
      for (const Part& part : parts) {
        std::memcpy(to, static_cast<const char*>(part.variable->tensor.data) + static_cast<size_t>(row) * part.bytes,
                    part.bytes);
        to += part.bytes;
      }
    }
  }
};

struct ConcatGradKernel : Kernel {
  std::vector<Part> parts;
  Variable* out_gradient;
  int64_t rows;

  explicit ConcatGradKernel(KernelInit& init) : out_gradient(init.input("Out@GRAD")) {
    int axis = normal_axis(attr_of<int32_t>(settled(init, kPorts), "axis"), out_gradient->tensor.shape.rank(), "axis");
    rows = out_gradient->tensor.shape.numel(0, axis);
    for (size_t i = 0; i < init.input_count("X"); ++i) {
      parts.push_back({init.output("X@GRAD", i), bytes_from(init.input("X", i)->tensor, axis)});
    }
  }

  void run(Device&) override {
    const char* from = static_cast<const char*>(out_gradient->tensor.data);
    for (int64_t row = 0; row < rows; ++row) {
      for (const Part& part : parts) {
        if (part.variable) {
          std::memcpy(static_cast<char*>(part.variable->tensor.data) + static_cast<size_t>(row) * part.bytes, from,
                      part.bytes);
        }
        from += part.bytes;
      }
    }
  }
};

VarInfo concat_info(InferContext& c) {
  require_tensors(c);
  VarInfo out = c.input("X");
  require<ShapeError>(out.shape.rank() > 0, "X[0] has no dimensions: there is no axis to lie along");
  auto op = settled(c, kPorts);
  if (!op) {
    out.shape = open_shape(out.shape.rank());
    return out;
  }
  int axis = normal_axis(attr_of<int32_t>(*op, "axis"), out.shape.rank(), "axis");
  for (size_t i = 1; i < c.input_count("X"); ++i) {
    const VarInfo& part = c.input("X", i);
    bool fits = part.shape.rank() == out.shape.rank();
    for (int d = 0; fits && d < out.shape.rank(); ++d) fits = d == axis || dims_agree(out.shape[d], part.shape[d]);
    require<ShapeError>(fits, "X[", i, "] has shape ", part.shape.str(), ", which can't follow ", c.shape("X").str(),
                        " along axis ", axis);
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
  OpSpec forward("concat"), backward("concat_grad");
  forward.input_list("X", "tensors of one element type whose shapes differ along the axis at most")
      .output("Out", "the shape of the Xs, long along the axis as all of them together");
  backward.input_list("X", "as in concat").reads_shape("X")
      .input("Out@GRAD", "shape of Out")
      .optional_output_list("X@GRAD", "shapes of the Xs; @EMPTY@ for those that nobody wants");
  ops.add(with_tensor_ports(forward, kPorts)
              .doc("Out = the tensors X one after the other along the axis.")
              .attr("axis", 0, "the axis; negative ones count from the end")
              .infer([](InferContext& c) { c.set_output("Out", concat_info(c)); })
              .gradient("concat_grad", with_ports({"X", "Out@GRAD"}, kPorts), {"X@GRAD"})
              .kernel_for_any<ConcatKernel>());
  ops.add(with_tensor_ports(backward, kPorts)
              .doc("Each X@GRAD is the part of Out@GRAD where X lies in Out.")
              .attr("axis", 0, "as in concat")
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
