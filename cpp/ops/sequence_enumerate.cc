// sequence_enumerate: row t of Out = X[t], ..., X[t + win_size - 1] from the same sequence
#include <algorithm>

#include "math/sequences.h"

namespace paddle_mini {
namespace {

template <class T>
struct SequenceEnumerateKernel : Kernel {
  In<T> x;
  Out<T> out;
  Offsets offsets;
  int64_t window;
  T pad;

  explicit SequenceEnumerateKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), offsets(offsets_of(&x.variable())), window(init.attr<int32_t>("win_size")),
        pad(init.attr<int32_t>("pad_value")) {}

  void run(KernelContext&) override {
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      for (int64_t t = offsets[i]; t < offsets[i + 1]; ++t) {
        int64_t there = std::min(window, offsets[i + 1] - t);
        std::copy_n(x.data() + t, there, out.data() + t * window);
        std::fill_n(out.data() + t * window + there, window - there, pad);
      }
    }
  }
};

}  // namespace

void define_sequence_enumerate(OpTable& ops) {
  ops.add(OpSchema("sequence_enumerate")
              .doc("Row t of Out = X[t], ..., X[t + win_size - 1]; pad_value after the end of the sequence.")
              .input("X", "sequences of ids, [T, 1] or [T]")
              .output("Out", "[T, win_size], the sequences of X")
              .required_attr("win_size", AttrType::Int, "the number of ids in a row", at_least(1))
              .attr("pad_value", 0, "the id after the end of a sequence")
              .infer([](InferContext& c) {
                plain_sequences(c, "X");
                VarInfo out = c.input("X");
                int64_t width = row_numel(out.shape);
                require<ShapeError>(width == 1 || width < 0, "X has shape ", out.shape.str(),
                                    ", a row must have one id");
                out.shape = {out.shape[0], c.attr<int32_t>("win_size")};
                if (out.shape.known()) out.shape.numel();  // refuses a shape that is too large
                c.set_output("Out", out);
              })
              .no_gradient("ids are integers, which have no gradient")
              .cpu_only("processes sequences of different lengths one after the other")
              .kernels<SequenceEnumerateKernel, int32_t, int64_t>());
}

}  // namespace paddle_mini
