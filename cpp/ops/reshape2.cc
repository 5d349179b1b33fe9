// reshape2: Out = the elements of X, in their order, in another shape
#include "math/reshape.h"

namespace paddle_mini {
namespace {

// 0 copies X's dimension at the same place; one -1 is worked out from the rest. The dimensions that are
// copied cancel on both sides, so the rest may be known while they are not.
Shape reshaped(const Shape& x, const std::vector<int32_t>& wanted) {
  Shape out, x_rest;
  int64_t rest = 1;
  int to_work_out = -1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t dim = wanted[i];
    require<ProgramError>(dim >= -1, "attribute 'shape' has the dimension ", dim);
    if (dim == 0) {
      require<ShapeError>(static_cast<int>(i) < x.rank(), "shape copies dimension ", i, " of X, which has shape ",
                          x.str());
      dim = x[static_cast<int>(i)];
    } else if (dim == -1) {
      require<ProgramError>(to_work_out < 0, "attribute 'shape' has -1 at ", to_work_out, " and at ", i,
                            ": only one can be worked out");
      to_work_out = static_cast<int>(i);
    } else {
      require<ShapeError>(dim <= (int64_t{1} << 48) / rest, "attribute 'shape' has too many elements");
      rest *= dim;
    }
    out.push_back(dim);
  }
  for (int i = 0; i < x.rank(); ++i) {
    if (i >= static_cast<int>(wanted.size()) || wanted[i] != 0) x_rest.push_back(x[i]);
  }
  if (!x_rest.known()) return out;
  int64_t count = x_rest.numel();
  require<ShapeError>(to_work_out < 0 ? count == rest : count % rest == 0, "X ", x.str(), " does not fit into ",
                      show(AttrValue(wanted)));
  if (to_work_out >= 0) out[to_work_out] = count / rest;
  return out;
}

}  // namespace

void define_reshape2(OpTable& ops) {
  ops.add(reshaping("reshape2")
              .doc("Out has the elements of X, in their order, in the shape `shape`.")
              .attr("shape", std::vector<int32_t>{}, "shape of Out: 0 copies X's dimension there, one -1 is worked out")
              .infer([](InferContext& c) {
                set_reshaped(c, reshaped(c.shape("X"), c.attr<std::vector<int32_t>>("shape")));
              })
              .gradient("reshape2_grad", {"XShape", "Out@GRAD"}, {"X@GRAD"}));
  ops.add(reshaping_gradient("reshape2_grad").doc("X@GRAD has the elements of Out@GRAD in the shape of X."));
}

}  // namespace paddle_mini
