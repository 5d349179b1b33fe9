// sequence_reshape: Out = the elements of each sequence of X in rows of another width
#include "ops/family/reshape.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

void infer_sequence_reshape(InferContext& c) {
  const Offsets* offsets = plain_sequences(c, "X");
  require_rank(c, "X", 2);
  const Shape& x = c.shape("X");
  int64_t width = x[1], wanted = c.attr<int32_t>("new_dim");
  if (!offsets || width < 0) {
    set_sequences(c, "Out", c.input("X").dtype, {-1, wanted}, nullptr);
    return;
  }
  Offsets out{0};
  for (size_t i = 0; i + 1 < offsets->size(); ++i) {
    int64_t rows = (*offsets)[i + 1] - (*offsets)[i], elements = rows * width;
    require<ShapeError>(elements % wanted == 0, "sequence ", i, " of X has ", elements,
                        " elements, which can't be divided into rows of ", wanted);
    out.push_back(out.back() + elements / wanted);
  }
  set_sequences(c, "Out", c.input("X").dtype, {out.back(), wanted}, &out);
}

void infer_sequence_reshape_grad(InferContext& c) {
  const Shape &x = c.shape("X"), &out = c.shape("Out@GRAD");
  require_same_dtype(c, "X", "Out@GRAD");
  require<ShapeError>(!x.known() || !out.known() || x.numel() == out.numel(), "Out@GRAD has shape ", out.str(),
                      ", X had ", x.str());
  gradients_like_inputs(c);
}

}  // namespace

void define_sequence_reshape(OpTable& ops) {
  ops.add(OpSchema("sequence_reshape")
              .doc("Out = the elements of each sequence of X in rows of new_dim elements.")
              .input("X", "sequences of rows [T, D]")
              .output("Out", "[T * D / new_dim, new_dim]")
              .required_attr("new_dim", AttrType::Int,
                             "the width of Out; must divide the number of elements of each sequence", at_least(1))
              .infer(infer_sequence_reshape)
              .gradient("sequence_reshape_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .view("X", "Out")
              .on_gpu()
              .kernel_for_any<ReshapeKernel>());
  ops.add(OpSchema("sequence_reshape_grad")
              .doc("X@GRAD = the elements of Out@GRAD in the shape and sequences of X.")
              .input("X", "as in sequence_reshape; its values are not read")
              .input("Out@GRAD", "shape of Out")
              .output("X@GRAD", "shape of X")
              .infer(infer_sequence_reshape_grad)
              .view("Out@GRAD", "X@GRAD")
              .on_gpu()
              .kernel_for_any<ReshapeGradKernel>());
}

}  // namespace paddle_mini
