// index_put: out = x with value written, or added, at the positions that the tensors in indices name
#include <algorithm>
#include <cstring>

#include "core/op_table.h"
#include "math/strided_places.h"

namespace paddle_mini {
namespace {

using Positions = std::vector<int64_t>;

// The positions that one tensor of indices names: an integer along one axis, a mask along as many as it has dimensions.
struct NamedPositions {
  Shape shape;
  std::vector<Positions> axes;

  explicit NamedPositions(const Tensor& index) {
    const int64_t n = index.shape.numel();
    axes.resize(index.dtype == DType::Bool ? static_cast<size_t>(index.shape.rank()) : 1);
    for (int64_t i = 0; i < n; ++i) {
      if (index.dtype == DType::Int32) axes[0].push_back(index.as<int32_t>()[i]);
      else if (index.dtype == DType::Int64) axes[0].push_back(index.as<int64_t>()[i]);
      else if (index.as<bool>()[i]) add_place(i, index.shape);
    }
    shape = index.dtype == DType::Bool ? Shape{static_cast<int64_t>(axes[0].size())} : index.shape;
  }

 private:
  void add_place(int64_t left, const Shape& mask) {
    for (int axis = mask.rank() - 1; axis >= 0; --axis) {
      axes[static_cast<size_t>(axis)].push_back(unravel_last(left, mask[axis]));
    }
  }
};

Shape common_shape_of(const Shape& a, const Shape& b, const char* what) {
  Shape out;
  for (int i = std::max(a.rank(), b.rank()); i > 0; --i) {
    int64_t left = i > a.rank() ? 1 : a[a.rank() - i], right = i > b.rank() ? 1 : b[b.rank() - i];
    require<ShapeError>(left == right || left == 1 || right == 1, what, " of shapes ", a.str(), " and ", b.str(),
                        " can't be broadcast");
    out.push_back(left == 1 ? right : left);
  }
  return out;
}

// The slabs of x that all tensors together name: their offsets, in the broadcast shape of the positions, and the places
// of the elements of value that belong to them.
struct IndexedSlabs {
  int64_t width = 1;
  Positions offsets;
  StridedPlaces of_value;

  IndexedSlabs(const std::vector<const Variable*>& indices, const Shape& x, const Shape& value) {
    std::vector<NamedPositions> all;
    Shape common;
    int axes = 0;
    for (const Variable* index : indices) {
      all.emplace_back(index->tensor);
      common = common_shape_of(common, all.back().shape, "indices");
      axes += static_cast<int>(all.back().axes.size());
    }
    offsets.assign(static_cast<size_t>(common.numel()), 0);
    int axis = 0;
    for (const NamedPositions& named : all) {
      StridedPlaces places = broadcast_places(named.shape, common);
      for (const Positions& along : named.axes) {
        add_axis(along, places, x[axis], x.numel(axis + 1, x.rank()));
        ++axis;
      }
    }
    width = x.numel(axes, x.rank());
    for (int i = axes; i < x.rank(); ++i) common.push_back(x[i]);
    require<ShapeError>(common_shape_of(common, value, "the indexed elements and value") == common, "value has shape ",
                        value.str(), ", the indexed elements have ", common.str());
    of_value = broadcast_places(value, common);
  }

  // Calls f(element of value, element of x) in the order of the positions.
  template <class F>
  void each(F f) const {
    int64_t i = 0;
    for (int64_t offset : offsets) {
      for (int64_t j = 0; j < width; ++j, ++i) f(of_value(i), offset + j);
    }
  }

 private:
  void add_axis(const Positions& along, const StridedPlaces& places, int64_t length, int64_t step) {
    for (size_t i = 0; i < offsets.size(); ++i) {
      int64_t at = along[static_cast<size_t>(places(static_cast<int64_t>(i)))];
      require<OpError>(at >= -length && at < length, "indices has ", at, ": x has ", length,
                       " along the axis, so a position must be from ", -length, " to ", length - 1);
      offsets[i] += (at < 0 ? at + length : at) * step;
    }
  }
};

std::vector<const Variable*> index_variables(const KernelInit& init) {
  std::vector<const Variable*> found;
  for (size_t i = 0; i < init.input_count("indices"); ++i) found.push_back(init.input("indices", i));
  return found;
}

template <class T>
struct IndexPutKernel : Kernel {
  In<T> x, value;
  Out<T> out;
  std::vector<const Variable*> indices;
  bool accumulate;

  explicit IndexPutKernel(KernelInit& init)
      : x(init, "x"), value(init, "value"), out(init, "out"), indices(index_variables(init)),
        accumulate(init.attr<bool>("accumulate")) {}
  void run(KernelContext&) override {
    IndexedSlabs slabs(indices, x.shape(), value.shape());
    T* to = out.data();
    if (to != x.data()) std::copy_n(x.data(), x.numel(), to);
    slabs.each([&](int64_t from, int64_t at) {
      to[at] = accumulate ? static_cast<T>(to[at] + value[from]) : value[from];
    });
  }
};

template <class T>
struct IndexPutGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient, value_gradient;
  Shape value;
  std::vector<const Variable*> indices;
  bool accumulate;

  explicit IndexPutGradKernel(KernelInit& init)
      : out_gradient(init, "out@GRAD"), x_gradient(init, "x@GRAD", optional_port),
        value_gradient(init, "value@GRAD", optional_port), value(init.input("value")->tensor.shape),
        indices(index_variables(init)), accumulate(init.attr<bool>("accumulate")) {}
  void run(KernelContext&) override {
    IndexedSlabs slabs(indices, out_gradient.shape(), value);
    if (value_gradient) {
      std::fill_n(value_gradient.data(), value_gradient.numel(), T(0));
      slabs.each([&](int64_t to, int64_t at) {
        value_gradient[to] = static_cast<T>(value_gradient[to] + out_gradient[at]);
      });
    }
    if (!x_gradient) return;
    std::copy_n(out_gradient.data(), out_gradient.numel(), x_gradient.data());
    if (!accumulate) slabs.each([&](int64_t, int64_t at) { x_gradient[at] = T(0); });
  }
};

void check_index_put(const InferContext& c, const char* x_port) {
  require_tensors(c);
  require_same_dtype(c, x_port, "value");
  const Shape& x = c.shape(x_port);
  int axes = 0;
  for (size_t i = 0; i < c.input_count("indices"); ++i) {
    const VarInfo& index = c.input("indices", i);
    bool mask = index.dtype == DType::Bool;
    require<ShapeError>(mask || index.dtype == DType::Int32 || index.dtype == DType::Int64, "indices[", i, "] is ",
                        name_of(index.dtype), ", it must be int32, int64 or bool");
    require<ShapeError>(!mask || index.shape.rank() > 0, "indices[", i, "] is a mask without dimensions");
    for (int d = 0; mask && d < index.shape.rank() && axes + d < x.rank(); ++d) {
      require<ShapeError>(dims_agree(index.shape[d], x[axes + d]), "indices[", i, "] is a mask of shape ",
                          index.shape.str(), ", which does not fit ", x.str(), " from axis ", axes, " on");
    }
    axes += mask ? index.shape.rank() : 1;
  }
  require<ShapeError>(axes <= x.rank(), "indices name ", axes, " axes, x has shape ", x.str());
}

}  // namespace

void define_index_put(OpTable& ops) {
  ops.add(
      OpSchema("index_put")
          .doc("out = x with value written at the positions in indices: tensor i has the positions along axis i, and "
               "all of them are broadcast. A mask stands for the positions where it is true. Of several values for "
               "one element the last one remains; with accumulate all are added to x. Negative positions count from "
               "the end; a position out of range is an error.")
          .input("x", "at least as many axes as indices name")
          .input_list("indices", "int32, int64, or masks of bool, which name as many axes as they have dimensions")
          .input("value", "a shape that can be broadcast to that of the positions, followed by the other axes of x")
          .output("out", "shape of x")
          .attr("accumulate", false, "whether value is added")
          .infer([](InferContext& c) {
            check_index_put(c, "x");
            c.set_output("out", c.input("x"));
          })
          .gradient("index_put_grad", {"x", "indices", "value", "out@GRAD"}, {"x@GRAD", "value@GRAD"})
          .in_place("x", "out")
          .checks_data()
          .cpu_only("duplicates are written in order, and positions of masks are counted")
          .kernels<IndexPutKernel, float, double, int32_t, int64_t, bool>());
  ops.add(ops.gradient_of("index_put")
              .doc("value@GRAD of an element = the sum of out@GRAD over the positions that it was written to; x@GRAD = "
                   "out@GRAD, with 0 at these positions unless value was added.")
              .shape_only("x")
              .shape_only("value")
              .infer([](InferContext& c) {
                check_index_put(c, "x");
                require_same_shape(c, "x", "out@GRAD");
                require_same_dtype(c, "x", "out@GRAD");
                gradients_like_inputs(c);
              })
              .checks_data()
              .dtype_from_input("out@GRAD")
              .kernels<IndexPutGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
