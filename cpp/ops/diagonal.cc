// diagonal: Out = the diagonals of the matrices in Input; diag_embed: matrices with the rows of Input as diagonals
#include "ops/family/diagonals.h"

namespace paddle_mini {
namespace {

struct TakenDiagonal : MatrixAxes {
  template <class Context>
  TakenDiagonal(const Context& c, const Shape& x)
      : MatrixAxes(x, "Input", c.template attr<int32_t>("axis1"), c.template attr<int32_t>("axis2"),
                   c.template attr<int32_t>("offset"), "axis1", "axis2") {}
};

struct EmbeddedDiagonal : MatrixAxes {
  template <class Context>
  EmbeddedDiagonal(const Context& c, const Shape& out)
      : MatrixAxes(out, "Out", c.template attr<int32_t>("dim1"), c.template attr<int32_t>("dim2"),
                   c.template attr<int32_t>("offset"), "dim1", "dim2") {}
};

struct DiagonalKernel : DiagonalsKernel<TakenDiagonal, false> {
  explicit DiagonalKernel(KernelInit& init) : DiagonalsKernel(init, "Input", "Out") {}
};
struct DiagonalGradKernel : DiagonalsKernel<TakenDiagonal, true> {
  explicit DiagonalGradKernel(KernelInit& init) : DiagonalsKernel(init, "Out@GRAD", "Input@GRAD") {}
};
struct DiagEmbedKernel : DiagonalsKernel<EmbeddedDiagonal, true> {
  explicit DiagEmbedKernel(KernelInit& init) : DiagonalsKernel(init, "Input", "Out") {}
};

// The matrices are square: as large as the diagonal and its distance from the main one need.
Shape embedding_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("Input");
  require<ShapeError>(x.rank() >= 1 && x.rank() < Shape::kMaxRank, "Input has ", x.rank(),
                      " dimensions, it must have 1 to ", Shape::kMaxRank - 1);
  Shape matrices = x;
  matrices.push_back(-1);
  EmbeddedDiagonal axes(c, matrices);
  int64_t last = x[x.rank() - 1], size = last < 0 ? -1 : last + std::abs(axes.offset);
  Shape out;
  for (int i = 0, from = 0; i <= x.rank(); ++i) {
    bool in_matrix = i == axes.rows || i == axes.columns;
    out.push_back(in_matrix ? size : x[from++]);
  }
  return out;
}

void infer_diagonal(InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("Input");
  c.set_output("Out", c.input("Input").dtype, TakenDiagonal(c, x).diagonals(x));
}

}  // namespace

// PaddlePaddle expresses the gradient of diag_embed by diagonal in Python, so diag_embed has no operator for it.
void define_diagonal(OpTable& ops) {
  ops.add(OpSchema("diagonal")
              .doc("Out = a diagonal of each matrix that axis1 and axis2 form.")
              .input("Input", "at least 2 dimensions")
              .output("Out", "the axes of Input other than axis1 and axis2, then the elements of the diagonal")
              .attr("offset", 0, "the diagonal's distance to the right of the main one; negative: below it")
              .attr("axis1", 0, "the rows of the matrices; negative ones count from the end")
              .attr("axis2", 1, "the columns of the matrices; negative ones count from the end")
              .infer(infer_diagonal)
              .gradient("diagonal_grad", {"Input", "Out@GRAD"}, {"Input@GRAD"})
              .on_gpu()
              .kernel_for_any<DiagonalKernel>());
  ops.add(ops.gradient_of("diagonal")
              .doc("Input@GRAD = Out@GRAD along the diagonal, 0 elsewhere.")
              .shape_only("Input")
              .kernel_for_any<DiagonalGradKernel>());
  ops.add(OpSchema("diag_embed")
              .doc("Out = matrices with 0 except for one diagonal, which is the last axis of Input.")
              .input("Input", "at least one dimension")
              .output("Out", "the axes of Input but the last, with the rows and columns of the matrices at dim1, dim2")
              .attr("offset", 0, "the diagonal's distance to the right of the main one; negative: below it")
              .attr("dim1", -2, "the rows of the matrices in Out; negative ones count from the end")
              .attr("dim2", -1, "the columns of the matrices in Out; negative ones count from the end")
              .infer([](InferContext& c) { c.set_output("Out", c.input("Input").dtype, embedding_shape(c)); })
              .gradient([](const OpDesc& forward) {
                return std::vector<OpDesc>{make_op("diagonal", {{"Input", gradient_names(forward.output("Out"))}},
                                                   {{"Out", gradient_names(forward.input("Input"))}},
                                                   {{"offset", attr_of<int32_t>(forward, "offset")},
                                                    {"axis1", attr_of<int32_t>(forward, "dim1")},
                                                    {"axis2", attr_of<int32_t>(forward, "dim2")}})};
              })
              .on_gpu()
              .kernel_for_any<DiagEmbedKernel>());
}

}  // namespace paddle_mini
