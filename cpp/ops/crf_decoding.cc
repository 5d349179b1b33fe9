// crf_decoding: ViterbiPath = the most likely tags of each sequence; with Label, whether each label is that tag
#include "core/op_table.h"
#include "math/cpu/each_item.h"
#include "ops/family/crf_inputs.h"

namespace paddle_mini {
namespace {

// Viterbi: best[k][i] = Emission[k][i] + max over j of best[k - 1][j] + Transition[j][i].
template <class T>
struct CrfDecodingKernel : Kernel {
  In<T> emission, transition;
  std::optional<IndexIn> label;
  Out<int64_t> path;
  RowSpans spans;
  int64_t tags;
  LaneScratch<T> best, next;
  LaneScratch<int64_t> from;

  explicit CrfDecodingKernel(KernelInit& init)
      : emission(init, "Emission"), transition(init, "Transition"), path(init, "ViterbiPath"),
        spans(init, "Emission", "Length"), tags(transition.shape()[1]), best(init, tags), next(init, tags),
        from(init, spans.longest() * tags) {
    if (init.input("Label")) label.emplace(init, "Label");
  }

  void run(KernelContext& context) override {
    spans.refresh();
    std::fill_n(path.data(), path.numel(), int64_t{0});
    const double n = static_cast<double>(tags), longest = static_cast<double>(spans.longest());
    each_item(context, {spans.count(), longest * n * n}, [&](int64_t s, int lane) {
      int64_t row = spans.begin(s), length = spans.length(s);
      if (length == 0) return;
      decode(row, length, lane);
      for (int64_t k = row; label && k < row + length; ++k) path[k] = (*label)[k] == path[k];
    });
  }

  void decode(int64_t row, int64_t length, int lane) {
    const T* x = emission.data() + row * tags;
    T *now = best.data(lane), *then = next.data(lane);
    int64_t* before = from.data(lane);
    for (int64_t i = 0; i < tags; ++i) now[i] = transition[i] + x[i];
    for (int64_t k = 1; k < length; ++k) {
      for (int64_t i = 0; i < tags; ++i) {
        int64_t top = 0;
        auto through = [&](int64_t j) { return now[j] + transition[(j + 2) * tags + i]; };
        for (int64_t j = 1; j < tags; ++j) top = through(j) > through(top) ? j : top;
        before[k * tags + i] = top;
        then[i] = through(top) + x[k * tags + i];
      }
      std::swap(now, then);
    }
    int64_t tag = 0;
    auto to_end = [&](int64_t i) { return now[i] + transition[tags + i]; };
    for (int64_t i = 1; i < tags; ++i) tag = to_end(i) > to_end(tag) ? i : tag;
    for (int64_t k = length - 1; k >= 0; --k) {
      path[row + k] = tag;
      if (k > 0) tag = before[k * tags + tag];
    }
  }
};

void infer_crf_decoding(InferContext& c) {
  require_crf_inputs(c);
  const VarInfo& emission = c.input("Emission");
  VarInfo path = emission;
  path.dtype = DType::Int64;
  path.shape = Shape{emission.shape[0], c.has_input("Length") ? emission.shape[1] : 1};
  c.set_output("ViterbiPath", path);
}

}  // namespace

void define_crf_decoding(OpTable& ops) {
  ops.add(OpSchema("crf_decoding")
              .doc("ViterbiPath = the path of tags with the largest score by Emission and Transition (see "
                   "linear_chain_crf); of equal ones the first. With Label, 1 where the label equals that tag, else 0. "
                   "Padding is 0.")
              .input("Emission", "rows [n, tags] in sequences (lod); with Length, [count, width, tags]")
              .input("Transition",
                     "[tags + 2, tags]: row 0 scores of the first tag, row 1 of the last, the rest "
                     "[from, to]")
              .optional_input("Label", "int32 or int64, the tag of each row")
              .optional_input("Length", "int32 or int64, [count] or [count, 1]: the lengths of padded sequences")
              .output("ViterbiPath", "int64 [n, 1] in the same sequences; with Length, [count, width]")
              .infer(infer_crf_decoding)
              .checks_data()
              .no_gradient("its output is tags, which are integers")
              .cpu_only("processes sequences of labels one step at a time")
              .kernels<CrfDecodingKernel, float, double>());
}

}  // namespace paddle_mini
