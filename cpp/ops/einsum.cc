// einsum: sums of products over labelled axes, as an equation says
#include "math/axis_walk.h"
#include "math/einsum.h"

namespace paddle_mini {
namespace {

Equation equation_of(const KernelInit& init) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < init.input_count("Operands"); ++i) shapes.push_back(init.input("Operands", i)->tensor.shape);
  return {init.attr<std::string>("equation"), shapes};
}

Equation equation_of(const InferContext& c) {
  require_tensors(c);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.input_count("Operands"); ++i) {
    const VarInfo& operand = c.input("Operands", i);
    require<ShapeError>(operand.dtype == c.input("Operands").dtype, "Operands[", i, "] is ", name_of(operand.dtype),
                        ", Operands[0] is ", name_of(c.input("Operands").dtype));
    shapes.push_back(operand.shape);
  }
  return {c.attr<std::string>("equation"), shapes};
}

template <class T>
struct EinsumKernel : Kernel {
  std::vector<In<T>> operands;
  Out<T> out;
  Equation equation;
  Contraction<T> contraction;
  std::vector<const T*> data;

  explicit EinsumKernel(KernelInit& init)
      : operands(in_list<T>(init, "Operands")), out(init, "Out"), equation(equation_of(init)),
        contraction(init, equation.operands, equation.out), data(operands.size()) {}

  void run(Device& device) override {
    for (size_t i = 0; i < operands.size(); ++i) data[i] = operands[i].data();
    contraction.run(device, data, out.data());
  }
};

// The gradient of an operand is the same product with Out@GRAD in its place, summed into the operand's axes.
template <class T>
struct EinsumGradKernel : Kernel {
  struct Part {
    size_t operand;
    Out<T> to;
    Contraction<T> contraction;
  };
  std::vector<In<T>> operands;
  In<T> out_gradient;
  Equation equation;
  std::vector<Part> parts;
  std::vector<const T*> data;

  explicit EinsumGradKernel(KernelInit& init)
      : operands(in_list<T>(init, "Operands")), out_gradient(init, "Out@GRAD"), equation(equation_of(init)),
        data(operands.size()) {
    for (size_t i = 0; i < operands.size() && i < init.output_count("Operands@GRAD"); ++i) {
      if (!init.output("Operands@GRAD", i)) continue;
      std::vector<LabelledShape> factors = equation.operands;
      factors[i] = equation.out;
      parts.push_back({i, Out<T>(init, "Operands@GRAD", i), Contraction<T>(init, factors, equation.operands[i])});
    }
  }

  void run(Device& device) override {
    for (Part& part : parts) {
      for (size_t i = 0; i < operands.size(); ++i) data[i] = operands[i].data();
      data[part.operand] = out_gradient.data();
      part.contraction.run(device, data, part.to.data());
    }
  }
};

void infer_forward(InferContext& c) {
  c.set_output("Out", c.input("Operands").dtype, equation_of(c).out.shape);
  for (const char* port : {"InnerCache", "XShape"}) {
    for (size_t i = 0; i < c.output_count(port); ++i) {
      c.output(port, i) = VarInfo{VarKind::Tensor, c.input("Operands").dtype, Shape{0}};
    }
  }
}

void infer_backward(InferContext& c) {
  require_like_out(c, "Operands", equation_of(c).out.shape);
  gradients_like_inputs(c);
}

}  // namespace

void define_einsum(OpTable& ops) {
  ops.add(OpSpec("einsum")
              .doc("Out = the product of the operands, summed over the labels that the result lacks: \"ij,jk->ik\" is "
                   "the product of matrices. A label twice in one operand is its diagonal, \"...\" stands for any "
                   "axes, and axes of size 1 stretch. Without an arrow the result has the axes of \"...\" and then, "
                   "by alphabet, the labels that stand there once.")
              .input_list("Operands", "one tensor for each term of the equation")
              .output("Out", "the axes that the equation says")
              .optional_output_list("InnerCache", "[0] each: nothing is kept")
              .optional_output_list("XShape", "[0] each: nothing is kept")
              .required_attr("equation", AttrType::String, "terms of letters, joined by ',', an arrow '->', the result")
              .infer(infer_forward)
              .gradient("einsum_grad", {"Operands", "InnerCache", "Out@GRAD"}, {"Operands@GRAD"})
              .kernels<EinsumKernel, float, double>());
  ops.add(OpSpec("einsum_grad")
              .doc("The gradient of an operand is the product with Out@GRAD in its place, summed over the labels that "
                   "the operand lacks; 0 off a diagonal.")
              .input_list("Operands", "as in einsum")
              .optional_input_list("InnerCache", "of einsum; not read")
              .input("Out@GRAD", "shape of Out")
              .optional_output_list("Operands@GRAD", "shapes of Operands")
              .required_attr("equation", AttrType::String, "as in einsum")
              .infer(infer_backward)
              .dtype_from_input("Out@GRAD")
              .kernels<EinsumGradKernel, float, double>());
}

}  // namespace paddle_mini
