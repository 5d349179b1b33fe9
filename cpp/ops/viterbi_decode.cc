// viterbi_decode: Path = the tags with the largest sum of scores for each padded sequence, Scores = these sums
#include "core/op_table.h"
#include "math/cpu/each_item.h"
#include "math/row_spans.h"

namespace paddle_mini {
namespace {

// Viterbi: best[0][i] = Input[0][i], best[k][i] = Input[k][i] + max over j of best[k - 1][j] + Transition[j][i].
template <class T>
struct ViterbiDecodeKernel : Kernel {
  In<T> input, transition;
  IndexIn lengths;
  Out<T> scores;
  Out<int64_t> path;
  int64_t size, tags, longest;  // elements of a sequence, tags of a row, columns of Path
  bool has_ends;
  LaneScratch<T> best, next;
  LaneScratch<int64_t> from;

  explicit ViterbiDecodeKernel(KernelInit& init)
      : input(init, "Input"), transition(init, "Transition"), lengths(init, "Length"), scores(init, "Scores"),
        path(init, "Path"), size(input.shape().numel(1, 3)), tags(input.shape()[2]), longest(path.shape()[1]),
        has_ends(init.attr<bool>("include_bos_eos_tag")), best(init, tags), next(init, tags),
        from(init, longest * tags) {}

  void run(KernelContext& context) override {
    std::fill_n(path.data(), path.numel(), int64_t{0});
    const double n = static_cast<double>(tags);
    each_item(context, {lengths.numel(), static_cast<double>(longest) * n * n},
              [&](int64_t s, int lane) { decode(s, lane); });
  }

  void decode(int64_t s, int lane) {
    const T *x = input.data() + s * size, *first = transition.data() + (tags - 1) * tags, *last = first - tags;
    T *now = best.data(lane), *then = next.data(lane);
    int64_t *before = from.data(lane), length = lengths[s], tag = 0;
    for (int64_t i = 0; i < tags; ++i) now[i] = has_ends ? x[i] + first[i] : x[i];
    for (int64_t k = 1; k < length; ++k) {
      for (int64_t i = 0; i < tags; ++i) {
        int64_t top = 0;
        auto through = [&](int64_t j) { return now[j] + transition[j * tags + i]; };
        for (int64_t j = 1; j < tags; ++j) top = through(j) > through(top) ? j : top;
        before[k * tags + i] = top;
        then[i] = through(top) + x[k * tags + i];
      }
      std::swap(now, then);
    }
    auto whole = [&](int64_t i) { return has_ends ? now[i] + last[i] : now[i]; };
    for (int64_t i = 1; i < tags; ++i) tag = whole(i) > whole(tag) ? i : tag;
    scores[s] = whole(tag);
    for (int64_t k = length - 1; k >= 0; --k) {
      path[s * longest + k] = tag;
      if (k > 0) tag = before[k * tags + tag];
    }
  }
};

// The greatest length. Throws for one that is not of 1 to `width`.
template <class T>
int64_t longest_of(const Tensor& lengths, int64_t width) {
  const T* values = static_cast<const T*>(lengths.data);
  int64_t most = 0;
  for (int64_t i = 0; i < lengths.shape.numel(); ++i) {
    require<OpError>(values[i] >= 1 && values[i] <= width, "Length ", i, " is ", values[i], ", it must be from 1 to ",
                     width);
    most = std::max(most, static_cast<int64_t>(values[i]));
  }
  return most;
}

void infer_viterbi_decode(InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "Transition", "Input");
  require_rank(c, "Input", 3);
  const Shape &input = c.shape("Input"), &transition = c.shape("Transition");
  int64_t tags = input[2], least = c.attr<bool>("include_bos_eos_tag") ? 2 : 1;
  require<ShapeError>(tags < 0 || tags >= least, "Input has shape ", input.str(), ", it needs at least ", least,
                      " tags");
  require<ShapeError>(shapes_agree(transition, Shape{tags, tags}), "Transition has shape ", transition.str(),
                      ", with Input ", input.str(), " it must be ", Shape({tags, tags}).str());
  require_lengths(c, "Length", input[0]);
  int64_t longest = -1;
  if (const Variable* value = c.value("Length")) {
    const Tensor& lengths = value->tensor;
    longest =
        lengths.dtype == DType::Int64 ? longest_of<int64_t>(lengths, input[1]) : longest_of<int32_t>(lengths, input[1]);
  }
  c.set_output("Scores", c.input("Input").dtype, {input[0]});
  c.set_output("Path", DType::Int64, {input[0], longest});
}

}  // namespace

void define_viterbi_decode(OpTable& ops) {
  ops.add(
      OpSchema("viterbi_decode")
          .doc("Path = for each sequence the tags t whose sum of Input[k, t[k]] and Transition[t[k - 1], t[k]] is the "
               "largest; of equal ones the lower tags. Path is as wide as the greatest length, and 0 after the end "
               "of a sequence.")
          .input("Input", "[count, width, tags]: the score of each tag at each place of padded sequences")
          .input("Transition", "[tags, tags]: the score of a tag, by row, before another one")
          .input("Length", "int32 or int64, [count] or [count, 1]: the lengths, from 1 to width")
          .output("Scores", "[count]: the sums of the paths")
          .output("Path", "int64 [count, the greatest length]")
          .attr("include_bos_eos_tag", true,
                "whether the last row of Transition is added at the first tag, and the row before it at the last tag")
          .infer(infer_viterbi_decode)
          .no_gradient("PaddlePaddle has none either: its output is tags, which are integers")
          .cpu_only("processes sequences of tags one step at a time")
          .kernels<ViterbiDecodeKernel, float, double>());
}

}  // namespace paddle_mini
