// warpctc: Loss = -log P(Label | softmax(Logits)), summed over all alignments (connectionist temporal classification)
#include <cmath>
#include <limits>

#include "core/op_table.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"
#include "math/row_spans.h"

namespace paddle_mini {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();  // log 0

double log_add(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

// The positions of a sequence's logits: consecutive rows with a lod, [time, sequence, class] if padded.
struct LogitRows {
  RowSpans spans;
  int64_t classes;

  explicit LogitRows(const KernelInit& init) : spans(make_spans(init)), classes(last(init)) {}
  static RowSpans make_spans(const KernelInit& init) {
    const Shape& shape = init.input("Logits")->tensor.shape;
    if (init.input("LogitsLength")) return RowSpans(init, "LogitsLength", shape[1], shape[0]);
    return RowSpans(init, "Logits", "LogitsLength");
  }
  static int64_t last(const KernelInit& init) {
    const Shape& shape = init.input("Logits")->tensor.shape;
    return shape[shape.rank() - 1];
  }
  int64_t at(int64_t s, int64_t t) const { return spans.padded() ? padded_at(s, t) : (spans.begin(s) + t) * classes; }
  // The position in WarpCTCGrad, which is always padded.
  int64_t padded_at(int64_t s, int64_t t) const { return (t * spans.count() + s) * classes; }
};

template <class T>
struct WarpCtcKernel : Kernel {
  In<T> logits;
  IndexIn label;
  Out<T> loss, gradient;
  LogitRows rows;
  RowSpans labels;
  int32_t blank;
  LaneScratch<double> log_y, alpha, beta, next_beta, sums;
  LaneScratch<int64_t> states;

  explicit WarpCtcKernel(KernelInit& init)
      : logits(init, "Logits"), label(init, "Label"), loss(init, "Loss"), gradient(init, "WarpCTCGrad"), rows(init),
        labels(init, "Label", "LabelLength"), blank(init.attr<int32_t>("blank")),
        log_y(init, rows.spans.longest() * rows.classes), alpha(init, rows.spans.longest() * most_states()),
        beta(init, most_states()), next_beta(init, most_states()), sums(init, rows.classes),
        states(init, most_states()) {}

  int64_t most_states() const { return 2 * labels.longest() + 1; }

  // Memory for one sequence.
  struct Work {
    double *log_y, *alpha, *beta, *next_beta, *sums;
    int64_t* states;  // blank, label 0, blank, label 1, ... blank
    int64_t classes;
  };

  void run(KernelContext& context) override {
    constexpr double kStateCost = 60, kClassCost = 10;  // nanoseconds for log_add of three; for exp
    rows.spans.refresh();
    labels.refresh();
    check_labels();
    fill_n(context, gradient.data(), gradient.numel(), T(0));
    const double row = kStateCost * static_cast<double>(most_states()) + kClassCost * static_cast<double>(rows.classes);
    each_item(context, {rows.spans.count(), row * static_cast<double>(rows.spans.longest())}, [&](int64_t s, int lane) {
      loss[s] = static_cast<T>(sequence(s, {log_y.data(lane), alpha.data(lane), beta.data(lane), next_beta.data(lane),
                                            sums.data(lane), states.data(lane), rows.classes}));
    });
  }

  void check_labels() const {
    for (int64_t s = 0; s < labels.count(); ++s) {
      for (int64_t i = 0; i < labels.length(s); ++i) {
        int64_t id = label[labels.begin(s) + i];
        require<OpError>(id >= 0 && id < rows.classes, "label ", id, " of sequence ", s, " is out of range: there are ",
                         rows.classes, " classes");
      }
    }
  }

  // If no alignment fits the label into its rows, the loss is 0 and has no gradient, as in PaddlePaddle.
  double sequence(int64_t s, const Work& w) {
    int64_t time = rows.spans.length(s), length = labels.length(s), count = 2 * length + 1, needed = length;
    for (int64_t i = 0; i < count; ++i) w.states[i] = i % 2 ? label[labels.begin(s) + i / 2] : blank;
    for (int64_t i = 3; i < count; i += 2) needed += w.states[i] == w.states[i - 2];
    if (needed > time || time == 0) return 0;
    log_softmax(s, time, w);
    forward_sums(time, count, w);
    const double* end = w.alpha + (time - 1) * count;
    double log_p = count > 1 ? log_add(end[count - 1], end[count - 2]) : end[0];
    backward(s, time, count, log_p, w);
    return -log_p;
  }

  void log_softmax(int64_t s, int64_t time, const Work& w) {
    int64_t n = rows.classes;
    for (int64_t t = 0; t < time; ++t) {
      const T* x = logits.data() + rows.at(s, t);
      auto top = static_cast<double>(*std::max_element(x, x + n));
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) sum += std::exp(static_cast<double>(x[k]) - top);
      for (int64_t k = 0; k < n; ++k) w.log_y[t * n + k] = static_cast<double>(x[k]) - top - std::log(sum);
    }
  }

  // From state i, a path continues to i, i + 1, or past a blank to a different label at i + 2.
  static bool skips_to(int64_t i, const Work& w) { return i >= 2 && i % 2 == 1 && w.states[i] != w.states[i - 2]; }

  static void forward_sums(int64_t time, int64_t count, const Work& w) {
    for (int64_t t = 0; t < time; ++t) {
      double *now = w.alpha + t * count, *before = now - count;
      for (int64_t i = 0; i < count; ++i) {
        double sum = t == 0 ? (i < 2 ? 0 : kNever) : before[i];
        if (t > 0 && i > 0) sum = log_add(sum, before[i - 1]);
        if (t > 0 && skips_to(i, w)) sum = log_add(sum, before[i - 2]);
        now[i] = sum + w.log_y[t * w.classes + w.states[i]];
      }
    }
  }

  // d Loss / d logit = y - P(the path is at the class in this row).
  void backward(int64_t s, int64_t time, int64_t count, double log_p, const Work& w) {
    if (!(log_p > kNever)) return;
    double *now = w.beta, *after = w.next_beta;
    int64_t n = rows.classes;
    for (int64_t t = time - 1; t >= 0; --t) {
      std::fill_n(w.sums, n, 0.0);
      for (int64_t i = 0; i < count; ++i) {
        now[i] = t == time - 1 ? (i >= count - 2 ? 0 : kNever) : onward(after, i, count, t + 1, w);
        w.sums[w.states[i]] += std::exp(w.alpha[t * count + i] + now[i] - log_p);
      }
      T* to = gradient.data() + rows.padded_at(s, t);
      for (int64_t k = 0; k < n; ++k) to[k] = static_cast<T>(std::exp(w.log_y[t * n + k]) - w.sums[k]);
      std::swap(now, after);
    }
  }

  static double onward(const double* after, int64_t i, int64_t count, int64_t t, const Work& w) {
    auto through = [&](int64_t j) { return after[j] + w.log_y[t * w.classes + w.states[j]]; };
    double sum = through(i);
    if (i + 1 < count) sum = log_add(sum, through(i + 1));
    if (i + 2 < count && skips_to(i + 2, w)) sum = log_add(sum, through(i + 2));
    return sum;
  }
};

template <class T>
struct WarpCtcGradKernel : Kernel {
  In<T> made, loss_gradient;
  Out<T> gradient;
  LogitRows rows;
  bool norm_by_times;

  explicit WarpCtcGradKernel(KernelInit& init)
      : made(init, "WarpCTCGrad"), loss_gradient(init, "Loss@GRAD"), gradient(init, "Logits@GRAD"), rows(init),
        norm_by_times(init.attr<bool>("norm_by_times")) {}

  void run(KernelContext& context) override {
    rows.spans.refresh();
    fill_n(context, gradient.data(), gradient.numel(), T(0));
    const double cost = bytes_cost(2.0 * sizeof(T)) * static_cast<double>(rows.spans.longest() * rows.classes);
    each_item(context, {rows.spans.count(), cost}, [&](int64_t s) {
      int64_t time = rows.spans.length(s);
      T scale = norm_by_times ? loss_gradient[s] / static_cast<T>(time) : loss_gradient[s];
      for (int64_t t = 0; t < time; ++t) {
        const T* from = made.data() + rows.padded_at(s, t);
        T* to = gradient.data() + rows.at(s, t);
        for (int64_t k = 0; k < rows.classes; ++k) to[k] = from[k] * scale;
      }
    });
  }
};

struct Sizes {
  int64_t count, longest, classes;
};

Sizes sizes_of_logits(const InferContext& c) {
  const VarInfo& logits = c.input("Logits");
  if (c.has_input("LogitsLength")) {
    require_rank(c, "Logits", 3);
    require_lengths(c, "LogitsLength", logits.shape[1]);
    return {logits.shape[1], logits.shape[0], logits.shape[2]};
  }
  require_rank(c, "Logits", 2);
  Sizes sizes{sequence_count(c, "Logits"), logits.lod.empty() ? -1 : 0, logits.shape[1]};
  for (int64_t i = 0; i < sizes.count; ++i) {
    const auto& offsets = logits.lod.back();
    sizes.longest = std::max(sizes.longest, offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)]);
  }
  return sizes;
}

void infer_forward(InferContext& c) {
  Sizes sizes = sizes_of_logits(c);
  require_index(c, "Label");
  require<ProgramError>(c.has_input("LogitsLength") == c.has_input("LabelLength"),
                        "LogitsLength and LabelLength must be given together");
  const Shape& label = c.shape("Label");
  int64_t count = label.rank() ? label[0] : 0;
  if (c.has_input("LabelLength")) {
    require_rank(c, "Label", 2);
    require_lengths(c, "LabelLength", sizes.count);
  } else {
    count = sequence_count(c, "Label");
    bool flat = label.rank() > 0 && dims_agree(label.numel(1, label.rank()), 1);
    require<ShapeError>(flat, "Label has shape ", label.str(), ", it must be [n] or [n, 1]");
  }
  require<ShapeError>(dims_agree(count, sizes.count), "Label has ", count, " sequences, Logits has ", sizes.count);
  int32_t blank = c.attr<int32_t>("blank");
  require<ProgramError>(blank >= 0 && (sizes.classes < 0 || blank < sizes.classes), "attribute 'blank' is ", blank,
                        ", there are ", sizes.classes, " classes");
  c.set_output("Loss", c.input("Logits").dtype, Shape{sizes.count, 1});
  c.set_output("WarpCTCGrad", c.input("Logits").dtype, Shape{sizes.longest, sizes.count, sizes.classes});
}

void infer_backward(InferContext& c) {
  Sizes sizes = sizes_of_logits(c);
  Shape made{sizes.longest, sizes.count, sizes.classes};
  for (const char* port : {"WarpCTCGrad", "Loss@GRAD"}) require_same_dtype(c, port, "Logits");
  require<ShapeError>(shapes_agree(c.shape("WarpCTCGrad"), made), "WarpCTCGrad has shape ",
                      c.shape("WarpCTCGrad").str(), ", it must be ", made.str());
  const Shape& gradient = c.shape("Loss@GRAD");
  require<ShapeError>(dims_agree(gradient.numel(0, gradient.rank()), sizes.count), "Loss@GRAD has shape ",
                      gradient.str(), ", there are ", sizes.count, " sequences");
  gradients_like_inputs(c);
}

}  // namespace

void define_warpctc(OpTable& ops) {
  ops.add(OpSchema("warpctc")
              .doc("Loss = -log of the probability of Label by softmax(Logits): the sum over all alignments of rows "
                   "with the label's tokens, with repeats and blanks (CTC, Graves et al. 2006). A label that is too "
                   "long for its rows has loss 0 and gradient 0.")
              .input("Logits", "[n, classes] in sequences (lod); with LogitsLength, [longest, count, classes]")
              .input("Label", "int32 or int64 [m, 1] in the same number of sequences; with LabelLength, [count, width]")
              .optional_input("LogitsLength", "int32 or int64: the lengths of padded sequences")
              .optional_input("LabelLength", "int32 or int64: the lengths of padded labels")
              .output("Loss", "[count, 1]")
              .output("WarpCTCGrad", "[longest, count, classes]: the gradient of Loss with respect to Logits")
              .attr("blank", 0, "the class of the blank")
              .attr("norm_by_times", false, "whether the gradient, not the loss, is divided by the number of rows")
              .infer(infer_forward)
              .custom_lod()
              .gradient("warpctc_grad", {"Logits", "LogitsLength", "WarpCTCGrad", "Loss@GRAD"}, {"Logits@GRAD"})
              .checks_data()
              .cpu_only("processes sequences of labels one step at a time")
              .kernels<WarpCtcKernel, float, double>());
  ops.add(ops.gradient_of("warpctc")
              .doc("Logits@GRAD = WarpCTCGrad Loss@GRAD, in the layout of the logits.")
              .infer(infer_backward)
              .checks_data()
              .kernels<WarpCtcGradKernel, float, double>());
}

}  // namespace paddle_mini
