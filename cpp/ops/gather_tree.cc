// gather_tree: Out = the complete sequences of a beam search, traced from each step's ids and their parents
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

  void refuse(const Fault& fault) const override { refuse_parent(fault.value, fault.at); }
  [[noreturn]] void refuse_parent(int64_t parent, int64_t at) const {
    fail<OpError>("Parents has ", parent, " at position ", at, ": there are ", beams, " beams");
  }

  void run(KernelContext& context) override;
};

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(gather_tree)

namespace paddle_mini {

void define_gather_tree(OpTable& ops) {
  ops.add(OpSchema("gather_tree")
              .doc("Out[t, b, k] = the id at step t of the sequence that ends in beam k at the last step. Parents[t, "
                   "b, k] is the beam at step t - 1 that precedes beam k at step t.")
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
              .no_gradient("ids are integers, which have no gradient")
              .checks_data()
              .on_gpu()
              .kernels<GatherTreeKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
