// einsum: sums of products over labelled axes, specified by an equation
#include "math/axis_index_map.h"
#include "math/copy.h"
#include "math/einsum.h"

namespace paddle_mini {
namespace {

// PaddlePaddle's einsum_grad has no input Operands, but InnerCache, in which einsum stores them.
template <class Context>
const char* operands_port(const Context& c) {
  return c.input_count("Operands") ? "Operands" : "InnerCache";
}

Equation equation_of(const KernelInit& init) {
  const char* port = operands_port(init);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < init.input_count(port); ++i) shapes.push_back(init.input(port, i)->tensor.shape);
  return {init.attr<std::string>("equation"), shapes};
}

Equation equation_of(const InferContext& c) {
  require_tensors(c);
  const char* port = operands_port(c);
  require<ProgramError>(c.input_count(port) > 0, "neither Operands nor InnerCache is given");
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.input_count(port); ++i) {
    const VarInfo& operand = c.input(port, i);
    require<ShapeError>(operand.dtype == c.input(port).dtype, port, "[", i, "] is ", name_of(operand.dtype), ", ", port,
                        "[0] is ", name_of(c.input(port).dtype));
    shapes.push_back(operand.shape);
  }
  return {c.attr<std::string>("equation"), shapes};
}

template <class T>
struct EinsumKernel : Kernel {
  std::vector<In<T>> operands;
  Out<T> out;
  std::vector<Out<T>> kept;
  Equation equation;
  Contraction<T> contraction;
  std::vector<const T*> data;

  explicit EinsumKernel(KernelInit& init)
      : operands(in_list<T>(init, "Operands")), out(init, "Out"), equation(equation_of(init)),
        contraction(init, equation.operands, equation.out), data(operands.size()) {
    for (size_t i = 0; i < init.output_count("InnerCache"); ++i) kept.emplace_back(init, "InnerCache", i);
  }

  void run(KernelContext& context) override {
    for (size_t i = 0; i < operands.size(); ++i) data[i] = operands[i].data();
    for (size_t i = 0; i < kept.size(); ++i) copy_n(context, data[i], operands[i].numel(), kept[i].data());
    contraction.run(context, data, out.data());
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
      : operands(in_list<T>(init, operands_port(init))), out_gradient(init, "Out@GRAD"), equation(equation_of(init)),
        data(operands.size()) {
    for (size_t i = 0; i < operands.size() && i < init.output_count("Operands@GRAD"); ++i) {
      if (!init.output("Operands@GRAD", i)) continue;
      std::vector<LabelledShape> factors = equation.operands;
      factors[i] = equation.out;
      parts.push_back({i, Out<T>(init, "Operands@GRAD", i), Contraction<T>(init, factors, equation.operands[i])});
    }
  }

  void run(KernelContext& context) override {
    for (Part& part : parts) {
      for (size_t i = 0; i < operands.size(); ++i) data[i] = operands[i].data();
      data[part.operand] = out_gradient.data();
      part.contraction.run(context, data, part.to.data());
    }
  }
};

void infer_einsum(InferContext& c) {
  c.set_output("Out", c.input("Operands").dtype, equation_of(c).out.shape);
  size_t count = c.input_count("Operands");
  require<ProgramError>(c.output_count("InnerCache") <= count, "InnerCache has ", c.output_count("InnerCache"),
                        " variables for ", count, " operands");
  for (size_t i = 0; i < c.output_count("InnerCache"); ++i) c.output("InnerCache", i) = c.input("Operands", i);
  for (size_t i = 0; i < c.output_count("XShape"); ++i) {
    c.output("XShape", i) = VarInfo{VarKind::Tensor, c.input("Operands").dtype, Shape{0}};
  }
}

void infer_einsum_gradient(InferContext& c) {
  const char* port = operands_port(c);
  require_like_out(c, port, equation_of(c).out.shape);
  for (size_t i = 0; i < c.output_count("Operands@GRAD") && i < c.input_count(port); ++i) {
    c.output("Operands@GRAD", i) = c.input(port, i);
  }
}

// PaddlePaddle's einsum_grad expects XShape under another name.
std::vector<OpDesc> einsum_gradient(const OpDesc& forward) {
  OpDesc op = make_op("einsum_grad",
                      {{"Operands", forward.input("Operands")}, {"Out@GRAD", gradient_names(forward.output("Out"))}},
                      {{"Operands@GRAD", gradient_names(forward.input("Operands"))}}, forward.attrs);
  if (!forward.output("InnerCache").empty()) op.inputs.push_back({"InnerCache", forward.output("InnerCache")});
  if (!forward.output("XShape").empty()) op.inputs.push_back({"x_shape", forward.output("XShape")});
  return {op};
}

}  // namespace

void define_einsum(OpTable& ops) {
  ops.add(OpSchema("einsum")
              .doc("Out = the product of the operands, summed over the labels that the result lacks: \"ij,jk->ik\" is "
                   "the product of matrices. A label that an operand has twice selects its diagonal, \"...\" stands "
                   "for any axes, and axes of size 1 are broadcast. Without an arrow the result has the axes of "
                   "\"...\" and then, in alphabetical order, the labels that occur once.")
              .input_list("Operands", "one tensor for each term of the equation")
              .output("Out", "the axes that the equation gives")
              .optional_output_list("InnerCache", "the operands, for einsum_grad")
              .optional_output_list("XShape", "[0] each: no data")
              .required_attr("equation", AttrType::String, "terms of letters, joined by ',', an arrow '->', the result")
              .infer(infer_einsum)
              .gradient(einsum_gradient)
              .on_gpu()
              .kernels<EinsumKernel, float, double>());
  ops.add(OpSchema("einsum_grad")
              .doc("The gradient of an operand is the product with Out@GRAD in its place, summed over the labels that "
                   "the operand lacks; 0 off a diagonal.")
              .optional_input_list("Operands", "as in einsum")
              .optional_input_list("InnerCache", "from einsum, if Operands are omitted")
              .optional_input_list("x_shape", "XShape from einsum; not read")
              .input("Out@GRAD", "shape of Out")
              .optional_output_list("Operands@GRAD", "shapes of Operands")
              .required_attr("equation", AttrType::String, "as in einsum")
              .infer(infer_einsum_gradient)
              .on_gpu()
              .kernels<EinsumGradKernel, float, double>());
}

}  // namespace paddle_mini
