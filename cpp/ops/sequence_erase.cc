// sequence_erase: Out = the sequences of X with some ids removed
#include <algorithm>

#include "math/sequences.h"

namespace paddle_mini {
namespace {

class Tokens {
 public:
  explicit Tokens(std::vector<int32_t> tokens) : sorted_(std::move(tokens)) {
    std::sort(sorted_.begin(), sorted_.end());
  }
  bool has(int64_t id) const { return std::binary_search(sorted_.begin(), sorted_.end(), id); }

 private:
  std::vector<int32_t> sorted_;
};

template <class T>
struct SequenceEraseKernel : Kernel {
  In<T> x;
  Out<T> out;
  Tokens tokens;

  explicit SequenceEraseKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), tokens(init.attr<std::vector<int32_t>>("tokens")) {}

  void run(KernelContext&) override {
    std::copy_if(x.data(), x.data() + x.numel(), out.data(), [&](T id) { return !tokens.has(id); });
  }
};

void infer_erase(InferContext& c) {
  const Offsets* offsets = sequences(c, "X");
  VarInfo out = c.input("X");
  int64_t width = row_numel(out.shape);
  require<ShapeError>(width == 1 || width < 0, "X has shape ", out.shape.str(), ", a row must have one id");
  std::optional<std::vector<int64_t>> ids = c.integers("X");
  if (!offsets || !ids) {
    out.shape[0] = -1;
    out.lod.clear();
    c.set_output("Out", out);
    return;
  }
  Tokens tokens(c.attr<std::vector<int32_t>>("tokens"));
  Offsets left{0};
  for (size_t i = 0; i + 1 < offsets->size(); ++i) {
    auto gone = std::count_if(ids->begin() + (*offsets)[i], ids->begin() + (*offsets)[i + 1],
                              [&](int64_t id) { return tokens.has(id); });
    left.push_back(left.back() + (*offsets)[i + 1] - (*offsets)[i] - gone);
  }
  out.shape[0] = left.back();
  out.lod.back() = left;
  c.set_output("Out", out);
}

}  // namespace

void define_sequence_erase(OpTable& ops) {
  ops.add(OpSchema("sequence_erase")
              .doc("Out = the sequences of X without the ids in `tokens`. The number of rows depends on data.")
              .input("X", "sequences of ids, [T, 1] or [T], int32 or int64")
              .output("Out", "the remaining ids of each sequence; outer lod levels stay unchanged")
              .required_attr("tokens", AttrType::Ints, "the ids to remove")
              .infer(infer_erase)
              .no_gradient("ids are integers, which have no gradient")
              .cpu_only("its result's size depends on data")
              .kernels<SequenceEraseKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
