// warprnnt: loss = -log P(label | input), summed over all alignments of a transducer
#include <cmath>
#include <limits>

#include "core/op_table.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();  // log 0

double add_logs(double a, double b) {
  double top = std::max(a, b);
  return top == kImpossible ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
}

// At place (t, u) an alignment has read t frames and written u labels: it reads the next frame with the logarithm of
// probability `blank`, or writes the next label with `emit`.
template <class T>
struct Lattice {
  const T* log_p;          // [times, width, classes] of one sequence
  const int32_t* labels;
  int64_t times, length, width, classes, blank_class;  // times, length: those of the sequence

  int64_t at(int64_t t, int64_t u) const { return t * (length + 1) + u; }
  int64_t blank_at(int64_t t, int64_t u) const { return (t * width + u) * classes + blank_class; }
  int64_t emit_at(int64_t t, int64_t u) const { return (t * width + u) * classes + labels[u]; }
  double blank(int64_t t, int64_t u) const { return static_cast<double>(log_p[blank_at(t, u)]); }
  double emit(int64_t t, int64_t u) const { return static_cast<double>(log_p[emit_at(t, u)]); }

  // alpha(t, u): the sum over the ways from (0, 0) to (t, u).
  void forward(double* alpha) const {
    for (int64_t t = 0; t < times; ++t) {
      for (int64_t u = 0; u <= length; ++u) {
        double sum = t + u == 0 ? 0 : kImpossible;
        if (t > 0) sum = add_logs(sum, alpha[at(t - 1, u)] + blank(t - 1, u));
        if (u > 0) sum = add_logs(sum, alpha[at(t, u - 1)] + emit(t, u - 1));
        alpha[at(t, u)] = sum;
      }
    }
  }
  // beta(t, u): the sum over the ways from (t, u) to the end.
  void backward(double* beta) const {
    for (int64_t t = times - 1; t >= 0; --t) {
      for (int64_t u = length; u >= 0; --u) {
        double sum = t + 1 == times && u == length ? blank(t, u) : kImpossible;
        if (t + 1 < times) sum = add_logs(sum, beta[at(t + 1, u)] + blank(t, u));
        if (u < length) sum = add_logs(sum, beta[at(t, u + 1)] + emit(t, u));
        beta[at(t, u)] = sum;
      }
    }
  }
};

template <class T>
struct WarpRnntKernel : Kernel {
  In<T> input;
  In<int32_t> label, input_lengths, label_lengths;
  Out<T> loss, gradient;
  int64_t count, times, width, classes;
  int32_t blank;
  double emphasis;
  LaneScratch<double> alpha, beta;

  explicit WarpRnntKernel(KernelInit& init)
      : input(init, "input"), label(init, "label"), input_lengths(init, "input_lengths"),
        label_lengths(init, "label_lengths"), loss(init, "loss"), gradient(init, "warprnntgrad"),
        count(input.shape()[0]), times(input.shape()[1]), width(input.shape()[2]), classes(input.shape()[3]),
        blank(init.attr<int32_t>("blank")), emphasis(1 + static_cast<double>(init.attr<float>("fastemit_lambda"))),
        alpha(init, times * width), beta(init, times * width) {}

  void run(KernelContext& context) override {
    for (int64_t i = 0; i < count; ++i) check(i);
    fill_n(context, gradient.data(), gradient.numel(), T(0));
    constexpr double kPlaceCost = 150;  // nanoseconds
    each_item(context, {count, kPlaceCost * static_cast<double>(times * width)}, [&](int64_t i, int lane) {
      const int64_t size = times * width * classes;
      Lattice<T> lattice{input.data() + i * size,
                         label.data() + i * (width - 1),
                         input_lengths[i],
                         label_lengths[i],
                         width,
                         classes,
                         blank};
      lattice.forward(alpha.data(lane));
      lattice.backward(beta.data(lane));
      loss[i] = static_cast<T>(-beta.data(lane)[0]);
      write_gradient(lattice, alpha.data(lane), beta.data(lane), gradient.data() + i * size);
    });
  }

  void check(int64_t i) const {
    require<OpError>(input_lengths[i] >= 1 && input_lengths[i] <= times, "input_lengths ", i, " is ", input_lengths[i],
                     ", it must be between 1 and ", times);
    require<OpError>(label_lengths[i] >= 0 && label_lengths[i] < width, "label_lengths ", i, " is ", label_lengths[i],
                     ", it must be between 0 and ", width - 1);
    for (int64_t k = 0; k < label_lengths[i]; ++k) {
      int32_t id = label[i * (width - 1) + k];
      require<OpError>(id >= 0 && id < classes, "label ", id, " of sequence ", i, " is out of range: there are ",
                       classes, " classes");
    }
  }

  // d loss / d log p = -P(an alignment takes this step).
  void write_gradient(const Lattice<T>& lattice, const double* from, const double* to, T* out) const {
    if (to[0] == kImpossible) return;
    for (int64_t t = 0; t < lattice.times; ++t) {
      for (int64_t u = 0; u <= lattice.length; ++u) {
        const double before = from[lattice.at(t, u)] - to[0];
        bool ends = t + 1 == lattice.times && u == lattice.length;
        if (ends || t + 1 < lattice.times) {
          double after = ends ? 0 : to[lattice.at(t + 1, u)];
          out[lattice.blank_at(t, u)] -= static_cast<T>(std::exp(before + lattice.blank(t, u) + after));
        }
        if (u == lattice.length) continue;
        double step = std::exp(before + lattice.emit(t, u) + to[lattice.at(t, u + 1)]);
        out[lattice.emit_at(t, u)] -= static_cast<T>(emphasis * step);
      }
    }
  }
};

template <class T>
struct WarpRnntGradKernel : Kernel {
  In<T> made, loss_gradient;
  Out<T> gradient;

  explicit WarpRnntGradKernel(KernelInit& init)
      : made(init, "warprnntgrad"), loss_gradient(init, "loss@GRAD"), gradient(init, "input@GRAD") {}

  void run(KernelContext& context) override {
    const int64_t count = gradient.shape()[0], size = count ? gradient.numel() / count : 0;
    each_item(context, {count, bytes_cost(2.0 * sizeof(T)) * static_cast<double>(size)}, [&](int64_t i) {
      for (int64_t k = i * size; k < (i + 1) * size; ++k) gradient[k] = made[k] * loss_gradient[i];
    });
  }
};

void infer_warprnnt(InferContext& c) {
  require_tensors(c);
  require_rank(c, "input", 4);
  require_rank(c, "label", 2);
  const Shape &input = c.shape("input"), &label = c.shape("label");
  for (const char* port : {"label", "input_lengths", "label_lengths"}) {
    DType dtype = c.input(port).dtype;
    require<ShapeError>(dtype == DType::Int32, port, " is ", name_of(dtype), ", it must be int32");
  }
  require<ShapeError>(dims_agree(label[0], input[0]) && (input[2] < 0 || dims_agree(label[1], input[2] - 1)),
                      "label has shape ", label.str(), ", with input of shape ", input.str(), " it must be ",
                      Shape{input[0], input[2] < 0 ? -1 : input[2] - 1}.str());
  for (const char* port : {"input_lengths", "label_lengths"}) {
    const Shape& lengths = c.shape(port);
    require<ShapeError>(lengths.rank() == 1 && dims_agree(lengths[0], input[0]), port, " has shape ", lengths.str(),
                        ", input has ", input[0], " sequences");
  }
  int32_t blank = c.attr<int32_t>("blank");
  require<ProgramError>(blank >= 0 && (input[3] < 0 || blank < input[3]), "attribute 'blank' is ", blank,
                        ", there are ", input[3], " classes");
  c.set_output("loss", c.input("input").dtype, Shape{input[0]});
  c.set_output("warprnntgrad", c.input("input"));
}

}  // namespace

void define_warprnnt(OpTable& ops) {
  ops.add(OpSchema("warprnnt")
              .doc("loss = -log of the probability of the label: the sum over all alignments of frames with the "
                   "label's tokens, where each step reads a frame (blank) or writes a token (Graves, Sequence "
                   "transduction with recurrent neural networks, 2012). The probabilities are not normalized: input "
                   "is what log_softmax gives.")
              .input("input", "[count, frames, tokens + 1, classes]: logarithms of probabilities")
              .input("label", "int32 [count, tokens]")
              .input("input_lengths", "int32 [count]: the frames of each sequence")
              .input("label_lengths", "int32 [count]: the tokens of each label")
              .output("loss", "[count]")
              .output("warprnntgrad", "shape of input: the gradient of loss with respect to input")
              .attr("blank", 0, "the class of the blank")
              .attr("fastemit_lambda", 0.0f,
                    "by how much the gradient of writing a token is increased (Yu et al., FastEmit, 2021)")
              .infer(infer_warprnnt)
              .custom_lod()
              .gradient("warprnnt_grad", {"input", "input_lengths", "warprnntgrad", "loss@GRAD"}, {"input@GRAD"})
              .checks_data()
              .cpu_only("processes sequences of labels one step at a time")
              .kernels<WarpRnntKernel, float, double>());
  ops.add(ops.gradient_of("warprnnt")
              .doc("input@GRAD = warprnntgrad loss@GRAD.")
              .shape_only("input")
              .shape_only("input_lengths")
              .infer([](InferContext& c) {
                for (const char* port : {"warprnntgrad", "loss@GRAD"}) require_same_dtype(c, port, "input");
                require_same_shape(c, "input", "warprnntgrad");
                const Shape &slope = c.shape("loss@GRAD"), &input = c.shape("input");
                require<ShapeError>(input.rank() == 4 && dims_agree(slope.numel(0, slope.rank()), input[0]),
                                    "loss@GRAD has shape ", slope.str(), ", input has ", input.str());
                gradients_like_inputs(c);
              })
              .kernels<WarpRnntGradKernel, float, double>());
}

}  // namespace paddle_mini
