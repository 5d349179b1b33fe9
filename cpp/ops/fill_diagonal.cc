// fill_diagonal: Out = X with one value on a diagonal; fill_diagonal_tensor: with Y on the diagonals of its matrices
#include "math/fill.h"
#include "ops/family/diagonals.h"

namespace paddle_mini {
namespace {

// The places are `step` apart from 0 on; those whose column leaves [0, columns) with the offset are not filled.
template <class T>
struct OnDiagonal {
  int64_t step, columns, offset;
  T value;
  T* to;
  PM_HD void operator()(int64_t i) const {
    int64_t at = i * step, column = at % columns + offset;
    if (column >= 0 && column < columns) to[at + offset] = value;
  }
};

template <class T>
struct ZeroOrValue {
  static T of(const KernelInit& init, bool backward) {
    return backward ? T(0) : number_as<T>(static_cast<double>(init.attr<float>("value")));
  }
};

template <bool backward>
struct FillDiagonalKernel {
  template <class T>
  struct For : Kernel {
    In<T> in;
    Out<T> out;
    OnDiagonal<T> fill;
    int64_t count = 0;

    explicit For(KernelInit& init)
        : in(init, backward ? "Out@GRAD" : "X"), out(init, backward ? "X@GRAD" : "Out"),
          fill{0, 1, init.attr<int32_t>("offset"), ZeroOrValue<T>::of(init, backward), nullptr} {
      const Shape& x = in.shape();
      for (int axis = 0; axis < x.rank(); ++axis) fill.step += x.numel(axis + 1, x.rank());
      fill.columns = std::max<int64_t>(x[1], 1);
      int64_t n = in.numel();
      if (x.rank() == 2 && !init.attr<bool>("wrap")) n = std::min(n, x[1] * x[1]);
      count = (n + fill.step - 1) / std::max<int64_t>(fill.step, 1);
    }
    void run(KernelContext& context) override {
      if (out.data() != in.data()) copy_n(context, in.data(), in.numel(), out.data());
      fill.to = out.data();
      for_each_index(context, count, fill);
    }
  };
};

void check_matrix(const InferContext& c, const char* port) {
  require_tensors(c);
  const Shape& x = c.shape(port);
  require<ShapeError>(x.rank() >= 2, port, " has shape ", x.str(), ", it must have at least 2 dimensions");
  for (int i = 1; x.rank() > 2 && i < x.rank(); ++i) {
    require<ShapeError>(dims_agree(x[0], x[i]), port, " has shape ", x.str(),
                        ": with more than 2 dimensions all must be equal");
  }
}

struct WrittenDiagonal : MatrixAxes {
  template <class Context>
  WrittenDiagonal(const Context& c, const Shape& x)
      : MatrixAxes(x, "X", c.template attr<int32_t>("dim1"), c.template attr<int32_t>("dim2"),
                   c.template attr<int64_t>("offset"), "dim1", "dim2") {}
};

struct FillDiagonalTensorKernel : Kernel {
  const Variable &x, &y;
  Variable& out;
  StridedPlaces places;

  explicit FillDiagonalTensorKernel(KernelInit& init)
      : x(*init.input("X")), y(*init.input("Y")), out(*init.output("Out")),
        places(WrittenDiagonal(init, x.tensor.shape).places(x.tensor.shape)) {}
  void run(KernelContext& context) override {
    const Tensor& from = x.tensor;
    const size_t bytes = size_of(from.dtype);
    if (out.tensor.data != from.data) {
      copy_n(context, static_cast<const uint8_t*>(from.data), from.shape.numel() * static_cast<int64_t>(bytes),
             static_cast<uint8_t*>(out.tensor.data));
    }
    put_places(context, bytes, y.tensor.shape.numel(), places, y.tensor.data, out.tensor.data);
  }
};

template <class T>
struct ZeroAt {
  StridedPlaces places;
  T* to;
  PM_HD void operator()(int64_t i) const { to[places(i)] = T(0); }
};

template <class T>
struct FillDiagonalTensorGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  StridedPlaces places;
  int64_t count;

  explicit FillDiagonalTensorGradKernel(KernelInit& init) : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD") {
    WrittenDiagonal axes(init, out_gradient.shape());
    places = axes.places(out_gradient.shape());
    count = axes.diagonals(out_gradient.shape()).numel();
  }
  void run(KernelContext& context) override {
    if (x_gradient.data() != out_gradient.data()) {
      copy_n(context, out_gradient.data(), out_gradient.numel(), x_gradient.data());
    }
    for_each_index(context, count, ZeroAt<T>{places, x_gradient.data()});
  }
};

void infer_fill_diagonal_tensor(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  Shape wanted = WrittenDiagonal(c, c.shape("X")).diagonals(c.shape("X")), row{1};
  for (int64_t size : wanted) row.push_back(size);
  require<ShapeError>(shapes_agree(c.shape("Y"), wanted) || (wanted.rank() == 1 && shapes_agree(c.shape("Y"), row)),
                      "Y has shape ", c.shape("Y").str(), ", the diagonals have ", wanted.str());
  c.set_output("Out", c.input("X"));
}

}  // namespace

void define_fill_diagonal(OpTable& ops) {
  ops.add(OpSchema("fill_diagonal")
              .doc("Out = X with `value` on its diagonal, whose elements have equal indices along all axes.")
              .input("X", "2 dimensions, or more of one size")
              .output("Out", "shape of X")
              .attr("value", 0.0f, "the value on the diagonal, converted to the element type of X")
              .attr("offset", 0, "the diagonal's distance to the right of the main one; negative: to the left")
              .attr("wrap", false, "whether a matrix with more rows than columns begins a new diagonal below its end")
              .infer([](InferContext& c) {
                check_matrix(c, "X");
                c.set_output("Out", c.input("X"));
              })
              .gradient("fill_diagonal_grad", {"Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<FillDiagonalKernel<false>::For, float, double, int32_t, int64_t, bool>());
  ops.add(ops.gradient_of("fill_diagonal")
              .doc("X@GRAD = Out@GRAD with 0 on the diagonal.")
              .infer([](InferContext& c) {
                check_matrix(c, "Out@GRAD");
                c.set_output("X@GRAD", c.input("Out@GRAD"));
              })
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<FillDiagonalKernel<true>::For, float, double, int32_t, int64_t, bool>());
  ops.add(
      OpSchema("fill_diagonal_tensor")
          .doc("Out = X with Y on a diagonal of each matrix that dim1 and dim2 form. As in PaddlePaddle, Y gets no "
               "gradient.")
          .input("X", "at least 2 dimensions")
          .input(
              "Y",
              "the axes of X other than dim1 and dim2, then the elements of the diagonal; of one matrix also as a row")
          .output("Out", "shape of X")
          .attr("offset", int64_t{0}, "the diagonal's distance to the right of the main one; negative: below it")
          .attr("dim1", 0, "the rows of the matrices; negative ones count from the end")
          .attr("dim2", 1, "the columns of the matrices; negative ones count from the end")
          .infer(infer_fill_diagonal_tensor)
          .gradient("fill_diagonal_tensor_grad", {"Out@GRAD"}, {"X@GRAD"})
          .in_place("X", "Out")
          .on_gpu()
          .kernel_for_any<FillDiagonalTensorKernel>());
  ops.add(ops.gradient_of("fill_diagonal_tensor")
              .doc("X@GRAD = Out@GRAD with 0 on the diagonals.")
              .infer([](InferContext& c) {
                require_tensors(c);
                WrittenDiagonal(c, c.shape("Out@GRAD"));
                c.set_output("X@GRAD", c.input("Out@GRAD"));
              })
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<FillDiagonalTensorGradKernel, float, double, int32_t, int64_t, bool>());
}

}  // namespace paddle_mini
