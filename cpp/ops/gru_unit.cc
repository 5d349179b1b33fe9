// gru_unit: one step of GRU; its input is already multiplied by its weights
#include "core/op_table.h"
#include "math/copy.h"
#include "math/cpu/gru_step.h"

namespace paddle_mini {
namespace {

template <class T>
GruStep<T> unit_step(const KernelInit& init, int64_t size) {
  return {size, AnyActivation(init.attr<int32_t>("gate_activation")), AnyActivation(init.attr<int32_t>("activation")),
          init.attr<bool>("origin_mode")};
}

template <class T>
struct GruUnitKernel : Kernel {
  In<T> x, last, weight, bias;
  Out<T> gate, reset, hidden;
  GruStep<T> step;
  PackedInput<T> packed;

  explicit GruUnitKernel(KernelInit& init)
      : x(init, "Input"), last(init, "HiddenPrev"), weight(init, "Weight"), bias(init, "Bias", optional_port),
        gate(init, "Gate"), reset(init, "ResetHiddenPrev"), hidden(init, "Hidden"),
        step(unit_step<T>(init, last.shape()[1])), packed(init, "Weight", kGruPanels, {step.size}, step.packed_size()) {
  }

  void run(KernelContext& context) override {
    int64_t rows = last.shape()[0], width = 3 * step.size;
    copy_n(context, x.data(), x.numel(), gate.data());
    if (bias) add_to_rows(context, rows, width, bias.data(), gate.data());
    const T* weights = packed.get(context, [this](T* to) { step.pack(weight.data(), to); });
    each_sequence_range(context, rows, step.cost(), [&](int64_t begin, int64_t end) {
      int64_t at = begin * step.size;
      step.run(context, end - begin, weights, gate.data() + begin * width, last.data() + at, reset.data() + at,
               hidden.data() + at);
    });
  }
};

template <class T>
struct GruUnitGradKernel : Kernel {
  In<T> last, weight, gate, reset, hidden_gradient;
  Out<T> x_gradient, last_gradient, weight_gradient, bias_gradient;
  GruStep<T> step;
  Scratch<T> packed, to_gates, to_last, to_reset;

  explicit GruUnitGradKernel(KernelInit& init)
      : last(init, "HiddenPrev"), weight(init, "Weight"), gate(init, "Gate"), reset(init, "ResetHiddenPrev"),
        hidden_gradient(init, "Hidden@GRAD"), x_gradient(init, "Input@GRAD", optional_port),
        last_gradient(init, "HiddenPrev@GRAD", optional_port), weight_gradient(init, "Weight@GRAD", optional_port),
        bias_gradient(init, "Bias@GRAD", optional_port), step(unit_step<T>(init, last.shape()[1])),
        packed(init, step.packed_size()), to_gates(init, gate.numel()), to_last(init, last.numel()),
        to_reset(init, last.numel()) {}

  void run(KernelContext& context) override {
    int64_t rows = last.shape()[0], width = 3 * step.size;
    copy_n(context, hidden_gradient.data(), last.numel(), to_last.data());
    step.pack_gradient(weight.data(), packed.data());
    each_sequence_range(context, rows, step.cost(), [&](int64_t begin, int64_t end) {
      int64_t at = begin * step.size;
      step.run_gradient(context, end - begin, packed.data(), gate.data() + begin * width, last.data() + at,
                        to_gates.data() + begin * width, to_last.data() + at, to_reset.data() + at);
    });
    if (x_gradient) copy_n(context, static_cast<const T*>(to_gates.data()), gate.numel(), x_gradient.data());
    if (last_gradient) copy_n(context, static_cast<const T*>(to_last.data()), last.numel(), last_gradient.data());
    if (bias_gradient) sum_rows(context, rows, width, to_gates.data(), bias_gradient.data());
    if (weight_gradient) {
      step.weight_gradient(context, rows, to_gates.data(), last.data(), reset.data(), weight_gradient.data());
    }
  }
};

void require_unit_shapes(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "HiddenPrev", 2);
  int64_t rows = c.shape("HiddenPrev")[0], size = c.shape("HiddenPrev")[1], width = size < 0 ? -1 : 3 * size;
  auto check = [&c](const char* port, const Shape& wanted) {
    if (!c.has_input(port)) return;
    require_same_dtype(c, "HiddenPrev", port);
    require<ShapeError>(shapes_agree(c.shape(port), wanted), port, " has shape ", c.shape(port).str(),
                        ", it must have ", wanted.str(), ": HiddenPrev has ", c.shape("HiddenPrev").str());
  };
  for (const char* port : {"Input", "Gate"}) check(port, {rows, width});
  for (const char* port : {"ResetHiddenPrev", "Hidden@GRAD"}) check(port, {rows, size});
  check("Weight", {size, width});
  check("Bias", {1, width});
}

}  // namespace

void define_gru_unit(OpTable& ops) {
  ops.add(
      OpSchema("gru_unit")
          .doc("u, r = gate_activation(Input + Bias + h' W_ur), c = activation(Input + Bias + (r h') W_c), Hidden = "
               "(1 - u) h' + u c; with origin_mode u h' + (1 - u) c.")
          .input("Input", "[batch, 3 size]: u, r, c")
          .input("HiddenPrev", "[batch, size]: h'")
          .input("Weight", "[size, 3 size]: its memory holds W_ur [size, 2 size], then W_c [size, size]")
          .optional_input("Bias", "[1, 3 size]")
          .output("Gate", "shape of Input: u, r, c")
          .output("ResetHiddenPrev", "shape of HiddenPrev: r h'")
          .output("Hidden", "shape of HiddenPrev")
          .attr("activation", 2, "activation of the candidate: 0 identity, 1 sigmoid, 2 tanh, 3 relu", between(0, 3))
          .attr("gate_activation", 1, "activation of the gates, likewise", between(0, 3))
          .attr("origin_mode", false,
                "whether the update gate is the weight of the previous state instead of the candidate")
          .infer([](InferContext& c) {
            require_unit_shapes(c);
            int64_t size = c.shape("HiddenPrev")[1];
            VarInfo gate = c.input("HiddenPrev");
            if (size >= 0) gate.shape[1] = 3 * size;
            c.set_output("Gate", gate);
            for (const char* port : {"ResetHiddenPrev", "Hidden"}) c.set_output(port, c.input("HiddenPrev"));
          })
          .gradient("gru_unit_grad",
                    {"Input", "HiddenPrev", "Weight", "Bias", "Gate", "ResetHiddenPrev", "Hidden@GRAD"},
                    {"Input@GRAD", "HiddenPrev@GRAD", "Weight@GRAD", "Bias@GRAD"})
          .cpu_only("computes one step of gru, which processes sequences one step at a time on the CPU")
          .kernels<GruUnitKernel, float, double>());
  ops.add(ops.gradient_of("gru_unit")
              .doc("Gradients of gru_unit.")
              .input("Input", "as in gru_unit; its values are not read")
              .optional_input("Bias", "as in gru_unit; its values are not read")
              .kernels<GruUnitGradKernel, float, double>());
}

}  // namespace paddle_mini
