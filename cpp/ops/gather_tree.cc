// gather_tree: Out = the whole sequences of a beam search, from each step's ids and their parents
#include "core/op_table.h"

namespace paddle_mini {
namespace {

template <class T>
struct GatherTreeKernel : Kernel {
  In<T> ids, parents;
  Out<T> out;
  int64_t steps, batch, beams;

  explicit GatherTreeKernel(KernelInit& init)
      : ids(init, "Ids"), parents(init, "Parents"), out(init, "Out"), steps(ids.shape()[0]), batch(ids.shape()[1]),
        beams(ids.shape()[2]) {}

  void run(Device&) override {
    int64_t step_size = batch * beams, n = ids.numel();
    // The parents of the first step are not followed.
    for (int64_t i = step_size; i < n; ++i) {
      require<OpError>(parents[i] >= 0 && parents[i] < beams, "Parents has ", parents[i], " at position ", i,
                       ": there are ", beams, " beams");
    }
    for (int64_t i = 0; i < step_size; ++i) {
      int64_t first = i / beams * beams, at = i - first;
      for (int64_t step = steps - 1; step >= 0; --step) {
        int64_t from = step * step_size + first + at;
        out[step * step_size + i] = ids[from];
        at = step > 0 ? parents[from] : 0;
      }
    }
  }
};

}  // namespace

void define_gather_tree(OpTable& ops) {
  ops.add(OpSpec("gather_tree")
              .doc("Out[t, b, k] = the id at step t of the sequence that ends in beam k at the last step: beginning "
                   "there, Parents[t, b, k] says which beam at step t - 1 comes before beam k at step t.")
              .input("Ids", "[steps, batch, beams], int32 or int64")
              .input("Parents", "shape and element type of Ids")
              .output("Out", "shape of Ids")
              .infer([](InferContext& c) {
                require_tensors(c);
                require_rank(c, "Ids", 3);
                require_same_dtype(c, "Ids", "Parents");
                require<ShapeError>(shapes_agree(c.shape("Ids"), c.shape("Parents")), "Ids has shape ",
                                    c.shape("Ids").str(), ", Parents has ", c.shape("Parents").str());
                c.set_output("Out", c.input("Ids"));
              })
              .no_gradient("ids have no slope")
              .checks_data()
              .kernels<GatherTreeKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
