// gather_tree: Out = the whole sequences of a beam search, from each step's ids and their parents
#include "core/op_table.h"

#ifdef PM_GPU
#include "math/for_each_index.h"
#include "math/gpu/raise.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
// One beam of the last step, back to the first.
template <class T>
struct GatherTree {
  int64_t steps, step_size, beams;
  const T *ids, *parents;
  T* out;
  Fault* fault;
  unsigned long long step_number;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t first = i / beams * beams, at = i - first;
    bool valid = true;
    for (int64_t step = steps - 1; step >= 0; --step) {
      int64_t here = step * step_size + i;
      if (valid) out[here] = ids[step * step_size + first + at];
      if (step == 0) return;
      // Every parent is looked at, also one that is not followed.
      if (parents[here] < 0 || parents[here] >= beams) raise(fault, step_number, parents[here], here);
      if (valid) at = parents[step * step_size + first + at];
      valid = valid && at >= 0 && at < beams;
    }
  }
};
#endif

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

#ifdef PM_GPU
  void run(Device& device) override {
    GatherTree<T> body{steps, batch * beams, beams, ids.data(), parents.data(), out.data(), device.fault, device.step};
    for_each_index(device, batch * beams, body);
  }
#else
  void run(Device&) override {
    int64_t step_size = batch * beams, n = ids.numel();
    // The parents of the first step are not followed.
    for (int64_t i = step_size; i < n; ++i) {
      if (parents[i] < 0 || parents[i] >= beams) refuse_parent(parents[i], i);
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
#endif
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
              .on_gpu()
              .kernels<GatherTreeKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
