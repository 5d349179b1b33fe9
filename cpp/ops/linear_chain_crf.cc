// linear_chain_crf: LogLikelihood = -log P(Label | Emission), a linear chain conditional random field
#include <cmath>

#include "core/op_table.h"
#include "math/cpu/each_item.h"
#include "ops/family/crf_inputs.h"

namespace paddle_mini {
namespace {

void check_tags(const IndexIn& label, const RowSpans& spans, int64_t tags) {
  for (int64_t s = 0; s < spans.count(); ++s) {
    for (int64_t k = 0; k < spans.length(s); ++k) {
      int64_t tag = label[spans.begin(s) + k];
      require<OpError>(tag >= 0 && tag < tags, "label ", tag, " in row ", k, " of sequence ", s,
                       " is out of range: there are ", tags, " tags");
    }
  }
}

// Normalizes the values to the sum 1 and returns the former sum. This prevents overflow in products over a sequence.
template <class T>
T normalize(T* values, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += values[i];
  for (int64_t i = 0; i < n; ++i) values[i] /= sum;
  return sum;
}

// The forward sums of a chain: Alpha[k][i] ~ sum over all tags before row k of exp(scores), tag i in row k.
template <class T>
struct LinearChainCrfKernel : Kernel {
  In<T> emission, transition;
  IndexIn label;
  Out<T> alpha, emission_exps, transition_exps, loss;
  RowSpans spans;
  int64_t tags;

  explicit LinearChainCrfKernel(KernelInit& init)
      : emission(init, "Emission"), transition(init, "Transition"), label(init, "Label"), alpha(init, "Alpha"),
        emission_exps(init, "EmissionExps"), transition_exps(init, "TransitionExps"), loss(init, "LogLikelihood"),
        spans(init, "Emission", "Length"), tags(transition.shape()[1]) {}

  void run(KernelContext& context) override {
    spans.refresh();
    check_tags(label, spans, tags);
    std::fill_n(alpha.data(), alpha.numel(), T(0));
    for (int64_t i = 0; i < transition.numel(); ++i) transition_exps[i] = std::exp(transition[i]);
    const double n = static_cast<double>(tags), longest = static_cast<double>(spans.longest());
    each_item(context, {emission.numel() / tags, 5 * n}, [&](int64_t row) {
      T top = largest(row);
      for (int64_t i = 0; i < tags; ++i) emission_exps[row * tags + i] = std::exp(emission[row * tags + i] - top);
    });
    each_item(context, {spans.count(), longest * flops_cost(8 * n * n)}, [&](int64_t s) {
      int64_t length = spans.length(s);
      loss[s] = length ? static_cast<T>(log_sum(spans.begin(s), length) - score(spans.begin(s), length)) : T(0);
    });
  }

  T largest(int64_t row) const {
    const T* x = emission.data() + row * tags;
    return *std::max_element(x, x + tags);
  }

  // The logarithm of the sum over all paths. Like the score it is a double, because both may be large and nearly equal.
  double log_sum(int64_t row, int64_t length) {
    const T *w = transition_exps.data(), *x = emission_exps.data() + row * tags;
    T* a = alpha.data() + row * tags;
    for (int64_t i = 0; i < tags; ++i) a[i] = w[i] * x[i];
    double total = static_cast<double>(largest(row)) + std::log(static_cast<double>(normalize(a, tags)));
    for (int64_t k = 1; k < length; ++k) {
      x += tags;
      for (int64_t j = 0; j < tags; ++j) {
        for (int64_t i = 0; i < tags; ++i) a[tags + i] += a[j] * w[(j + 2) * tags + i];
      }
      a += tags;
      for (int64_t i = 0; i < tags; ++i) a[i] *= x[i];
      total += static_cast<double>(largest(row + k)) + std::log(static_cast<double>(normalize(a, tags)));
    }
    double end = 0;
    for (int64_t i = 0; i < tags; ++i) end += static_cast<double>(a[i] * w[tags + i]);
    return total + std::log(end);
  }

  // The score of the path that the labels describe.
  double score(int64_t row, int64_t length) const {
    auto sum = static_cast<double>(transition[label[row]] + transition[tags + label[row + length - 1]]);
    for (int64_t k = 0; k < length; ++k) {
      sum += static_cast<double>(emission[(row + k) * tags + label[row + k]]);
      if (k > 0) sum += static_cast<double>(transition[(label[row + k - 1] + 2) * tags + label[row + k]]);
    }
    return sum;
  }
};

// Emission@GRAD = P(tag i in row k) - [label], Transition@GRAD = expected - counted transitions, from forward and
// backward sums.
template <class T>
struct LinearChainCrfGradKernel : Kernel {
  In<T> alpha, emission_exps, transition_exps, loss_gradient;
  IndexIn label;
  Out<T> emission_gradient, transition_gradient;
  RowSpans spans;
  int64_t tags;
  Scratch<T> beta, marginal, pairs;

  explicit LinearChainCrfGradKernel(KernelInit& init)
      : alpha(init, "Alpha"), emission_exps(init, "EmissionExps"), transition_exps(init, "TransitionExps"),
        loss_gradient(init, "LogLikelihood@GRAD"), label(init, "Label"),
        emission_gradient(init, "Emission@GRAD", optional_port),
        transition_gradient(init, "Transition@GRAD", optional_port), spans(init, "Emission", "Length"),
        tags(transition_exps.shape()[1]), beta(init, spans.longest() * tags), marginal(init, tags),
        pairs(init, tags * tags) {}

  void run(KernelContext&) override {
    spans.refresh();
    check_tags(label, spans, tags);
    if (emission_gradient) std::fill_n(emission_gradient.data(), emission_gradient.numel(), T(0));
    if (transition_gradient) std::fill_n(transition_gradient.data(), transition_gradient.numel(), T(0));
    for (int64_t s = 0; s < spans.count(); ++s) {
      if (spans.length(s)) sequence(spans.begin(s), spans.length(s), loss_gradient[s]);
    }
  }

  void sequence(int64_t row, int64_t length, T gradient) {
    backward_sums(row, length);
    for (int64_t k = 0; k < length; ++k) {
      for (int64_t i = 0; i < tags; ++i) marginal[i] = alpha[(row + k) * tags + i] * beta[k * tags + i];
      normalize(marginal.data(), tags);
      marginal[label[row + k]] -= T(1);
      for (int64_t i = 0; i < tags; ++i) {
        T g = marginal[i] * gradient;
        if (emission_gradient) emission_gradient[(row + k) * tags + i] = g;
        if (transition_gradient && k == 0) transition_gradient[i] += g;
        if (transition_gradient && k == length - 1) transition_gradient[tags + i] += g;
      }
      if (transition_gradient && k > 0) between(row + k, k, gradient);
    }
  }

  void backward_sums(int64_t row, int64_t length) {
    const T* w = transition_exps.data();
    T* b = beta.data() + (length - 1) * tags;
    std::copy_n(w + tags, tags, b);
    normalize(b, tags);
    for (int64_t k = length - 1; k > 0; --k, b -= tags) {
      const T* x = emission_exps.data() + (row + k) * tags;
      for (int64_t i = 0; i < tags; ++i) {
        T sum = 0;
        for (int64_t j = 0; j < tags; ++j) sum += w[(i + 2) * tags + j] * x[j] * b[j];
        b[i - tags] = sum;
      }
      normalize(b - tags, tags);
    }
  }

  // Adds the gradient of the transition from row - 1 to row, which is row k of its sequence.
  void between(int64_t row, int64_t k, T gradient) {
    const T *w = transition_exps.data() + 2 * tags, *a = alpha.data() + (row - 1) * tags;
    const T *x = emission_exps.data() + row * tags, *b = beta.data() + k * tags;
    for (int64_t i = 0; i < tags; ++i) {
      for (int64_t j = 0; j < tags; ++j) pairs[i * tags + j] = a[i] * w[i * tags + j] * x[j] * b[j];
    }
    normalize(pairs.data(), tags * tags);
    pairs[label[row - 1] * tags + label[row]] -= T(1);
    for (int64_t i = 0; i < tags * tags; ++i) transition_gradient[2 * tags + i] += pairs[i] * gradient;
  }
};

void infer_forward(InferContext& c) {
  int64_t count = require_crf_inputs(c);
  c.set_output("Alpha", c.input("Emission"));
  c.set_output("EmissionExps", c.input("Emission"));
  c.set_output("TransitionExps", c.input("Transition"));
  c.set_output("LogLikelihood", c.input("Emission").dtype, Shape{count, 1});
}

void infer_backward(InferContext& c) {
  int64_t count = require_crf_inputs(c);
  for (const char* port : {"Alpha", "EmissionExps"}) {
    require_same_shape(c, port, "Emission");
    require_same_dtype(c, port, "Emission");
  }
  require_same_shape(c, "TransitionExps", "Transition");
  require_same_dtype(c, "TransitionExps", "Emission");
  require_same_dtype(c, "LogLikelihood@GRAD", "Emission");
  const Shape& gradient = c.shape("LogLikelihood@GRAD");
  require<ShapeError>(dims_agree(gradient.numel(0, gradient.rank()), count), "LogLikelihood@GRAD has shape ",
                      gradient.str(), ", there are ", count, " sequences");
  gradients_like_inputs(c);
}

}  // namespace

void define_linear_chain_crf(OpTable& ops) {
  ops.add(OpSchema("linear_chain_crf")
              .doc("LogLikelihood = -log P(Label), the negative logarithm, for each sequence: the score of a path of "
                   "tags is the sum of its Emission and Transition, and P its share of all paths. An empty sequence "
                   "has 0.")
              .input("Emission", "rows [n, tags] in sequences (lod); with Length, [count, width, tags]")
              .input("Transition",
                     "[tags + 2, tags]: row 0 scores of the first tag, row 1 of the last, the rest "
                     "[from, to]")
              .input("Label", "int32 or int64, the tag of each row")
              .optional_input("Length", "int32 or int64, [count] or [count, 1]: the lengths of padded sequences")
              .output("Alpha", "like Emission: forward sums, each row scaled to sum to 1; 0 in padding")
              .output("EmissionExps", "exp(Emission - the maximum of its row)")
              .output("TransitionExps", "exp(Transition)")
              .output("LogLikelihood", "[count, 1]")
              .infer(infer_forward)
              .custom_lod()
              .gradient("linear_chain_crf_grad",
                        {"Emission", "Transition", "Label", "Length", "Alpha", "EmissionExps", "TransitionExps",
                         "LogLikelihood@GRAD"},
                        {"Emission@GRAD", "Transition@GRAD"})
              .checks_data()
              .cpu_only("processes sequences of labels one step at a time")
              .kernels<LinearChainCrfKernel, float, double>());
  ops.add(ops.gradient_of("linear_chain_crf")
              .doc("Emission@GRAD = P(tag) - [label], Transition@GRAD = expected - counted transitions, times the "
                   "gradient.")
              .infer(infer_backward)
              .checks_data()
              .kernels<LinearChainCrfGradKernel, float, double>());
}

}  // namespace paddle_mini
