// mul: Out = X Y, with X and Y flattened to matrices
#include "core/op_table.h"
#include "math/gemm.h"
#include "ops/family/narrow_kernels.h"
#include "ops/family/bilinear.h"

namespace paddle_mini {
namespace {

// X [m, k], Y [k, n] after flattening.
struct MatrixSizes {
  int64_t m, k, n;

  MatrixSizes(const KernelInit& init, const Shape& x, const Shape& y)
      : m(x.numel(0, init.attr<int32_t>("x_num_col_dims"))), k(x.numel(init.attr<int32_t>("x_num_col_dims"), x.rank())),
        n(y.numel(init.attr<int32_t>("y_num_col_dims"), y.rank())) {}
};

template <class T>
struct MulKernel : Kernel {
  In<T> x, y;
  Out<T> out;
  Gemm<T> product;

  explicit MulKernel(KernelInit& init) : x(init, "X"), y(init, "Y"), out(init, "Out") {
    MatrixSizes size(init, x.shape(), y.shape());
    product = {{false, false, size.m, size.n, size.k}, init, "Y"};
  }
  void run(KernelContext& context) override { product.run(context, x.data(), y.data(), out.data()); }
  bool stores_parts() const override { return Gemm<T>::kStoresParts; }
};

// X@GRAD = Out@GRAD Y', Y@GRAD = X' Out@GRAD
template <class T>
struct MulGradKernel : Kernel {
  In<T> x, y, out_gradient;
  Out<T> x_gradient, y_gradient;
  Gemm<T> to_x, to_y;

  explicit MulGradKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD", optional_port),
        y_gradient(init, "Y@GRAD", optional_port) {
    MatrixSizes size(init, x.shape(), y.shape());
    to_x = {{false, true, size.m, size.k, size.n}, init.threads()};
    to_y = {{true, false, size.k, size.n, size.m}, init.threads()};
  }
  void run(KernelContext& context) override {
    if (x_gradient) to_x.run(context, out_gradient.data(), y.data(), x_gradient.data());
    if (y_gradient) to_y.run(context, x.data(), out_gradient.data(), y_gradient.data());
  }
};

Shape product_shape(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "Y");
  const Shape &x = c.shape("X"), &y = c.shape("Y");
  int x_rows = c.attr<int32_t>("x_num_col_dims"), y_rows = c.attr<int32_t>("y_num_col_dims");
  require<ShapeError>(x_rows < x.rank(), "x_num_col_dims is ", x_rows, ", but X has shape ", x.str());
  require<ShapeError>(y_rows < y.rank(), "y_num_col_dims is ", y_rows, ", but Y has shape ", y.str());
  int64_t x_width = x.numel(x_rows, x.rank()), y_height = y.numel(0, y_rows);
  require<ShapeError>(dims_agree(x_width, y_height), "X ", x.str(), " flattened has ", x_width, " columns, Y ", y.str(),
                      " flattened has ", y_height, " rows: inner dimensions must be equal");
  Shape out;
  for (int i = 0; i < x_rows; ++i) out.push_back(x[i]);
  for (int i = y_rows; i < y.rank(); ++i) out.push_back(y[i]);
  return out;
}

void infer_mul(InferContext& c) {
  VarInfo out = c.input("X");
  out.shape = product_shape(c);
  c.set_output("Out", out);
}

}  // namespace

void define_mul(OpTable& ops) {
  ops.add(with_bfloat16_products<MulKernel>(
      ops, OpSchema("mul")
               .doc("Out = X Y: the first x_num_col_dims axes of X are flattened to rows and the others to columns; "
                    "likewise for Y.")
               .input("X", "[rows..., columns...]")
               .input("Y", "[rows..., columns...] with as many rows as X has columns")
               .output("Out", "X's rows and Y's columns")
               .attr("x_num_col_dims", 1, "the number of axes of X that are rows", at_least(1))
               .attr("y_num_col_dims", 1, "the number of axes of Y that are rows", at_least(1))
               .infer(infer_mul)
               .gradient("mul_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"})
               .stores_parts("Out")
               .on_gpu()
               .kernels<MulKernel, float, double>()));
  ops.add(with_bfloat16_products<MulGradKernel>(
      ops, bilinear_gradient_of(ops, "mul")
               .doc("X@GRAD = Out@GRAD Y', Y@GRAD = X' Out@GRAD, flattened as in mul.")
               .kernels<MulGradKernel, float, double>()));
  ops.add(bilinear_second_gradient(ops, "mul")
              .kernels<BilinearSecondKernel<MulKernel, MulGradKernel>::For, float, double>());
}

}  // namespace paddle_mini
