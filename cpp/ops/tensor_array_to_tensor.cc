// tensor_array_to_tensor: the elements of an array concatenated along an axis, or stacked along a new one
#include <cstring>

#include "core/op_table.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

// The layout of the joined tensor: `outer` times, `widths[i]` bytes of each element i in order.
struct Joint {
  int64_t outer = 1;
  std::vector<size_t> widths;
  std::vector<int32_t> sizes;  // size of each element along the axis
  Shape shape;                 // shape of the joined tensor

  Joint(const std::vector<Tensor>& elements, int axis_attr, bool stack) {
    require<OpError>(!elements.empty(), "X has no elements");
    for (size_t i = 0; i < elements.size(); ++i)
      require<OpError>(elements[i].data, "element ", i, " of X has no value");
    const Tensor& first = elements[0];
    int axis = normal_axis(axis_attr, first.shape.rank() + (stack ? 1 : 0), "attribute 'axis'");
    int64_t along = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      const Tensor& element = elements[i];
      Shape like = element.shape;
      if (!stack && like.rank() == first.shape.rank()) like[axis] = first.shape[axis];
      require<ShapeError>(element.dtype == first.dtype && like == first.shape, "element ", i, " of X is ",
                          element.shape.str(), " ", name_of(element.dtype), ", element 0 is ", first.shape.str(), " ",
                          name_of(first.dtype));
      widths.push_back(static_cast<size_t>(element.shape.numel(axis, element.shape.rank())) * size_of(element.dtype));
      int64_t size = stack ? 1 : element.shape[axis];
      require<ShapeError>(size <= INT32_MAX, "element ", i, " of X has ", size,
                          " elements along the axis, OutIndex is int32");
      sizes.push_back(static_cast<int32_t>(size));
      along += size;
    }
    outer = first.shape.numel(0, axis);
    std::vector<int64_t> dims = first.shape.vector();
    if (stack) dims.insert(dims.begin() + axis, along);
    else dims[static_cast<size_t>(axis)] = along;
    shape = Shape(dims);
  }

  // Calls copy(source in the element, target in `joined`, bytes) for each piece.
  template <class F>
  void each_piece(const std::vector<Tensor>& elements, char* joined, F copy) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (size_t i = 0; i < elements.size(); ++i) {
        copy(static_cast<char*>(elements[i].data) + static_cast<size_t>(o) * widths[i], joined, widths[i]);
        joined += widths[i];
      }
    }
  }
};

void run_join(ControlRun& run) {
  const std::vector<Tensor>& elements = run.input("X").array;
  Joint joint(elements, run.attr<int32_t>("axis"), run.attr<bool>("use_stack"));
  Tensor out = new_tensor(elements[0].dtype, joint.shape);
  joint.each_piece(elements, static_cast<char*>(out.data),
                   [](char* element, char* joined, size_t bytes) { std::memcpy(joined, element, bytes); });
  Tensor index = new_tensor(DType::Int32, Shape{static_cast<int64_t>(elements.size())});
  std::memcpy(index.data, joint.sizes.data(), index.bytes());
  run.set_output("Out", 0, tensor_variable(out));
  run.set_output("OutIndex", 0, tensor_variable(index));
}

void run_join_grad(ControlRun& run) {
  Variable gradients = run.input("X");
  Joint joint(gradients.array, run.attr<int32_t>("axis"), run.attr<bool>("use_stack"));
  const Tensor& out_grad = run.input("Out@GRAD").tensor;
  bool fits = out_grad.dtype == gradients.array[0].dtype && out_grad.shape == joint.shape;
  require<ShapeError>(fits, "Out@GRAD is ", run.input("Out@GRAD").info().str(), ", Out was ", joint.shape.str());
  for (Tensor& element : gradients.array) element = new_tensor(element.dtype, element.shape);
  joint.each_piece(gradients.array, static_cast<char*>(out_grad.data),
                   [](char* element, char* joined, size_t bytes) { std::memcpy(element, joined, bytes); });
  run.set_output("X@GRAD", 0, std::move(gradients));
}

}  // namespace

void define_tensor_array_to_tensor(OpTable& ops) {
  ops.add(OpSchema("tensor_array_to_tensor")
              .doc("Out = the elements of X joined along `axis`; with use_stack, stacked along a new axis.")
              .input("X", "a tensor array; all elements have values of one type and, but for the axis, of one shape")
              .output("Out", "the joined tensor")
              .optional_output("OutIndex", "int32: the size of each element along the axis")
              .attr("axis", 0, "the axis")
              .attr("use_stack", false, "whether to stack the elements along a new axis")
              .gradient("tensor_array_to_tensor_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .control(&run_join));
  ops.add(ops.gradient_of("tensor_array_to_tensor")
              .doc("Gradient of tensor_array_to_tensor: X@GRAD = Out@GRAD split into the elements.")
              .optional_input("OutIndex", "not read")
              .output("X@GRAD", "a tensor array: gradients of the elements")
              .control(&run_join_grad));
}

}  // namespace paddle_mini
