// lod_reset: Out = X with other sequences
#include <algorithm>

#include "ops/family/reshape.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

void check_level(const Offsets& level, int64_t rows) {
  require<ShapeError>(level.size() > 1, "the new lod has ", level.size(), " offsets, it must have at least two");
  bool rises = level.front() == 0 && std::is_sorted(level.begin(), level.end());
  require<ShapeError>(rises && dims_agree(level.back(), rows), "the new lod must increase from 0 to the ", rows,
                      " rows of X");
}

void infer_lod_reset(InferContext& c) {
  VarInfo out = c.input("X");
  require<ShapeError>(out.shape.rank() > 0, "X has no dimensions, so it can't hold sequences of rows");
  bool from_y = c.has_input("Y");
  if (from_y && c.input("Y").lod_level > 0) {
    const Offsets* offsets = sequences(c, "Y");
    require<ShapeError>(!offsets || dims_agree(offsets->back(), out.shape[0]), "X has ", out.shape[0],
                        " rows, the sequences of Y have ", offsets ? offsets->back() : 0);
    out.lod = c.input("Y").lod, out.lod_level = c.input("Y").lod_level;
    c.set_output("Out", out);
    return;
  }
  const auto& target = c.attr<std::vector<int32_t>>("target_lod");
  std::optional<Offsets> level = from_y ? c.integers("Y") : Offsets(target.begin(), target.end());
  if (level) check_level(*level, out.shape[0]);
  else out.shape[0] = -1;  // until Y has a value and its lod is known
  bool append = c.attr<bool>("append") && out.lod_level > 0;
  int64_t groups = append && level && !out.lod.empty() ? sequences(c, "X")->back() : -1;
  require<ShapeError>(groups < 0 || groups == static_cast<int64_t>(level->size()) - 1, "X's sequences end at ", groups,
                      ", the level that is appended has ", level ? level->size() - 1 : 0, " sequences");
  if (!append) out.lod.clear();
  out.lod_level = append ? out.lod_level + 1 : 1;
  bool known = level && static_cast<int>(out.lod.size()) + 1 == out.lod_level;
  if (known) out.lod.push_back(*level);
  else out.lod.clear();
  c.set_output("Out", out);
}

}  // namespace

void define_lod_reset(OpTable& ops) {
  ops.add(OpSchema("lod_reset")
              .doc("Out = X with the sequences of Y, the sequences whose offsets are the elements of Y, or those of "
                   "target_lod.")
              .input("X", "rows of any shape")
              .optional_input("Y", "sequences, whose values are not read; or offsets, int32 or int64")
              .output("Out", "shape of X")
              .attr("target_lod", std::vector<int32_t>{}, "offsets, used if Y is omitted")
              .attr("append", false, "whether the offsets are appended as a level to the lod of X")
              .infer(infer_lod_reset)
              .gradient("lod_reset_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .view("X", "Out")
              .on_gpu()
              .kernel_for_any<ReshapeKernel>());
  ops.add(OpSchema("lod_reset_grad")
              .doc("X@GRAD = Out@GRAD with the sequences of X.")
              .input("X", "as in lod_reset; its values are not read")
              .input("Out@GRAD", "shape of X")
              .output("X@GRAD", "shape of X")
              .infer([](InferContext& c) {
                require_gradient_of(c, "Out@GRAD", "X", c.shape("X"));
                gradients_like_inputs(c);
              })
              .view("Out@GRAD", "X@GRAD")
              .on_gpu()
              .kernel_for_any<ReshapeGradKernel>());
}

}  // namespace paddle_mini
