// split: Out = the parts of X along an axis
#include "ops/family/parts.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

const TensorAttrs kPorts{{"axis", "AxisTensor"}, {"sections", nullptr, "SectionsTensorList"}};

// The length of each part: sections, in which one -1 is inferred, or `num` equal lengths. -1: not known yet.
std::vector<int64_t> lengths_of(const OpDesc& op, int64_t size, size_t count) {
  const Ints& sections = attr_of<Ints>(op, "sections");
  int32_t num = attr_of<int32_t>(op, "num");
  require<ProgramError>(num >= 0 && (num > 0 || !sections.empty()), "num is ", num, " and there are no sections");
  size_t wanted = num > 0 ? static_cast<size_t>(num) : sections.size();
  require<ProgramError>(wanted == count, "X is split into ", wanted, ", there are ", count, " Out");
  if (num > 0) {
    require<ShapeError>(size < 0 || size % num == 0, "num is ", num, ", by which ", size, " can't be divided");
    return std::vector<int64_t>(count, size < 0 ? -1 : size / num);
  }
  std::vector<int64_t> lengths(sections.begin(), sections.end());
  int64_t total = 0, unknown = -1;
  for (size_t i = 0; i < count; ++i) {
    require<ProgramError>(lengths[i] >= -1, "sections has ", lengths[i]);
    require<ProgramError>(lengths[i] >= 0 || unknown < 0, "sections has two -1: only one can be computed");
    if (lengths[i] < 0) unknown = static_cast<int64_t>(i);
    else total += lengths[i];
  }
  if (size < 0) return lengths;
  require<ShapeError>(unknown < 0 ? total == size : total <= size, "sections ", show(AttrValue(sections)),
                      " do not make ", size);
  if (unknown >= 0) lengths[static_cast<size_t>(unknown)] = size - total;
  return lengths;
}

struct SplitKernel : SplitOrConcatKernel {
  explicit SplitKernel(KernelInit& init)
      : SplitOrConcatKernel(init.input("X"), outputs_of(init, "Out"), numels(init),
                            init.input("X")->tensor.shape.numel(0, axis_of(settled(init, kPorts), init)), false) {}

  static int axis_of(const OpDesc& op, const KernelInit& init) {
    return normal_axis(attr_of<int32_t>(op, "axis"), init.input("X")->tensor.shape.rank(), "axis");
  }
  static std::vector<int64_t> numels(const KernelInit& init) {
    const Shape& x = init.input("X")->tensor.shape;
    OpDesc op = settled(init, kPorts);
    int axis = axis_of(op, init);
    std::vector<int64_t> lengths = lengths_of(op, x[axis], init.output_count("Out"));
    for (int64_t& length : lengths) length *= x.numel(axis + 1, x.rank());
    return lengths;
  }
};

void infer_split(InferContext& c) {
  require_tensors(c);
  VarInfo part = c.input("X");
  require<ShapeError>(part.shape.rank() > 0, "X has no dimensions, so there is no axis to split");
  auto op = settled(c, kPorts);
  if (!op) {
    bool any_axis = c.has_input("AxisTensor");
    if (any_axis) part.shape = open_shape(part.shape.rank());
    else part.shape[normal_axis(c.attr<int32_t>("axis"), part.shape.rank(), "axis")] = -1;
    for (size_t i = 0; i < c.output_count("Out"); ++i) c.output("Out", i) = part;
    return;
  }
  int axis = normal_axis(attr_of<int32_t>(*op, "axis"), part.shape.rank(), "axis");
  std::vector<int64_t> lengths = lengths_of(*op, part.shape[axis], c.output_count("Out"));
  for (size_t i = 0; i < lengths.size(); ++i) {
    part.shape[axis] = lengths[i];
    c.output("Out", i) = part;
  }
}

}  // namespace

void define_split(OpTable& ops) {
  ops.add(
      with_tensor_ports(
          OpSchema("split").input("X", "any shape except []").output_list("Out", "shape of X except along the axis"),
          kPorts)
          .doc("Out = the parts of X along the axis, with the sizes in sections, or `num` equal parts.")
          .attr("sections", Ints{}, "the size of each part along the axis; one -1 is computed from the others")
          .attr("num", 0, "the number of equal parts; 0: sections gives the sizes", at_least(0))
          .attr("axis", 0, "the axis; negative ones count from the end")
          .infer(infer_split)
          .gradient([](const OpDesc& forward) {
            OpDesc op = make_op("concat", {{"X", gradient_names(forward.output("Out"))}},
                                {{"Out", gradient_names(forward.input("X"))}}, {{"axis", *forward.attr("axis")}});
            const std::vector<std::string>& axis = forward.input("AxisTensor");
            if (!axis.empty()) op.inputs.push_back({"AxisTensor", axis});
            return std::vector<OpDesc>{op};
          })
          .on_gpu()
          .kernel_for_any<SplitKernel>());
}

}  // namespace paddle_mini
