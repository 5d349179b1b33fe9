// gru: GRU over sequences; its input is already multiplied by its weights
#include "core/op_table.h"
#include "math/copy.h"
#include "math/cpu/gru_step.h"
#include "math/sequence_batches.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

template <class T>
GruStep<T> step_of(const KernelInit& init, int64_t size) {
  return {size, AnyActivation(init.attr<std::string>("gate_activation")),
          AnyActivation(init.attr<std::string>("activation")), init.attr<bool>("origin_mode")};
}

template <class T>
struct GruKernel : Kernel {
  In<T> x, first, weight, bias;
  Out<T> hidden, gates, reset, batch_hidden;
  SequenceBatches batches;
  GruStep<T> step;
  PackedInput<T> packed;
  Scratch<T> start;

  explicit GruKernel(KernelInit& init)
      : x(init, "Input"), first(init, "H0", optional_port), weight(init, "Weight"), bias(init, "Bias", optional_port),
        hidden(init, "Hidden"), gates(kept_or_scratch<T>(init, "BatchGate", x.numel())),
        reset(kept_or_scratch<T>(init, "BatchResetHiddenPrev", hidden.numel())),
        batch_hidden(kept_or_scratch<T>(init, "BatchHidden", hidden.numel())),
        batches(x.variable().tensor.lod, init.attr<bool>("is_reverse")), step(step_of<T>(init, weight.shape()[0])),
        packed(init, "Weight", kGruPanels, {step.size}, step.packed_size()), start(init, batches.count() * step.size) {}

  void run(KernelContext& context) override {
    int64_t size = step.size;
    batches.gather(context, x.data(), 3 * size, gates.data());
    if (bias) add_to_rows(context, x.shape()[0], 3 * size, bias.data(), gates.data());
    batches.gather_first(context, first ? first.data() : static_cast<const T*>(nullptr), size, start.data());
    const T* weights = packed.get(context, [this](T* to) { step.pack(weight.data(), to); });
    batches.each_step(context, false, step.cost(), [&](int64_t t, int64_t begin, int64_t count) {
      int64_t row = batches.starts[t] + begin;
      const T* last = t == 0 ? start.data() : batch_hidden.data() + batches.starts[t - 1] * size;
      step.run(context, count, weights, gates.data() + row * 3 * size, last + begin * size, reset.data() + row * size,
               batch_hidden.data() + row * size);
    });
    batches.scatter(context, batch_hidden.data(), size, hidden.data());
  }
};

template <class T>
struct GruGradKernel : Kernel {
  In<T> first, weight, gates, reset, batch_hidden, hidden_gradient;
  Out<T> x_gradient, first_gradient, weight_gradient, bias_gradient;
  SequenceBatches batches;
  GruStep<T> step;
  Scratch<T> packed, last, to_gates, to_hidden, to_last, to_reset;

  explicit GruGradKernel(KernelInit& init)
      : first(init, "H0", optional_port), weight(init, "Weight"), gates(init, "BatchGate"),
        reset(init, "BatchResetHiddenPrev"), batch_hidden(init, "BatchHidden"), hidden_gradient(init, "Hidden@GRAD"),
        x_gradient(init, "Input@GRAD", optional_port), first_gradient(init, "H0@GRAD", optional_port),
        weight_gradient(init, "Weight@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        batches(init.input("Input")->tensor.lod, init.attr<bool>("is_reverse")),
        step(step_of<T>(init, weight.shape()[0])), packed(init, step.packed_size()),
        last(init, std::max(reset.numel(), batches.count() * step.size)), to_gates(init, gates.numel()),
        to_hidden(init, reset.numel()), to_last(init, batches.count() * step.size),
        to_reset(init, batches.count() * step.size) {}

  void run(KernelContext& context) override {
    int64_t size = step.size, rows = reset.shape()[0];
    // Gathers the state before each row: the first rows of the preceding step.
    batches.gather_first(context, first ? first.data() : nullptr, size, last.data());
    for (int64_t t = 1; t < batches.steps(); ++t) {
      copy_n(context, batch_hidden.data() + batches.starts[t - 1] * size, batches.size(t) * size,
             last.data() + batches.starts[t] * size);
    }
    batches.gather(context, hidden_gradient.data(), size, to_hidden.data());
    fill_n(context, to_last.data(), to_last.numel(), T(0));
    step.pack_gradient(weight.data(), packed.data());
    batches.each_step(context, true, step.cost(), [&](int64_t t, int64_t begin, int64_t count) {
      int64_t row = batches.starts[t] + begin;
      T* to = to_last.data() + begin * size;
      add_row(context, count * size, static_cast<const T*>(to_hidden.data() + row * size), to);
      step.run_gradient(context, count, packed.data(), gates.data() + row * 3 * size, last.data() + row * size,
                        to_gates.data() + row * 3 * size, to, to_reset.data() + begin * size);
    });
    if (first_gradient) batches.scatter_first(context, to_last.data(), size, first_gradient.data());
    if (x_gradient) batches.scatter(context, to_gates.data(), 3 * size, x_gradient.data());
    if (bias_gradient) sum_rows(context, rows, 3 * size, to_gates.data(), bias_gradient.data());
    if (weight_gradient) {
      step.weight_gradient(context, rows, to_gates.data(), last.data(), reset.data(), weight_gradient.data());
    }
  }
};

void require_gru_shapes(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "Input", 2);
  require_rank(c, "Weight", 2);
  sequences(c, "Input");  // throws unless its offsets are those of sequences of its rows
  int64_t rows = c.shape("Input")[0], size = c.shape("Weight")[0], width = size < 0 ? -1 : 3 * size;
  auto check = [&c](const char* port, const Shape& wanted) {
    if (!c.has_input(port)) return;
    require_same_dtype(c, "Input", port);
    require<ShapeError>(shapes_agree(c.shape(port), wanted), port, " has shape ", c.shape(port).str(),
                        ", it must have ", wanted.str(), ": Weight has ", c.shape("Weight").str());
  };
  for (const char* port : {"Input", "BatchGate"}) check(port, {rows, width});
  for (const char* port : {"Hidden", "BatchHidden", "BatchResetHiddenPrev", "Hidden@GRAD"}) check(port, {rows, size});
  check("Weight", {size, width});
  check("Bias", {1, width});
  require_first(c, "H0", "Input", size);
}

void infer_forward(InferContext& c) {
  require_gru_shapes(c);
  VarInfo hidden = c.input("Input"), batch = hidden;
  hidden.shape[1] = batch.shape[1] = c.shape("Weight")[0];
  batch.lod.clear();
  batch.lod_level = 0;
  c.set_output("Hidden", hidden);
  c.set_output("BatchResetHiddenPrev", batch);
  describe_batches(hidden.lod, c.attr<bool>("is_reverse"), batch);
  c.set_output("BatchHidden", batch);
  batch.shape[1] = c.shape("Input")[1];
  c.set_output("BatchGate", batch);
}

}  // namespace

void define_gru(OpTable& ops) {
  std::vector<std::string> activations{"identity", "sigmoid", "tanh", "relu"};
  ops.add(OpSchema("gru")
              .doc("For each row of a sequence, with the state h' of the previous row: u, r = gate_activation(Input + "
                   "Bias + h' W_ur), c = activation(Input + Bias + (r h') W_c), Hidden = (1 - u) h' + u c; with "
                   "origin_mode u h' + (1 - u) c. A batch has the rows of one step, the longest sequence first.")
              .input("Input", "sequences of rows [3 size]: u, r, c")
              .optional_input("H0", "[sequences, size]: the state before each sequence; 0 if omitted")
              .input("Weight", "[size, 3 size]: its memory holds W_ur [size, 2 size], then W_c [size, size]")
              .optional_input("Bias", "[1, 3 size]")
              .optional_output("BatchGate", "shape of Input: u, r, c in the order of the batches, which its lod gives")
              .optional_output("BatchResetHiddenPrev", "[rows, size]: r h' in the order of the batches")
              .optional_output("BatchHidden", "[rows, size]: Hidden in the order of the batches, with BatchGate's lod")
              .output("Hidden", "sequences of rows [size]")
              .attr("activation", "tanh", "activation of the candidate", one_of(activations))
              .attr("gate_activation", "sigmoid", "activation of the gates", one_of(activations))
              .attr("is_reverse", false, "whether each sequence is processed from its end to its beginning")
              .attr("origin_mode", false,
                    "whether the update gate is the weight of the previous state instead of the candidate")
              .infer(infer_forward)
              .custom_lod()
              .gradient("gru_grad",
                        {"Input", "H0", "Weight", "Bias", "BatchGate", "BatchResetHiddenPrev", "BatchHidden", "Hidden",
                         "Hidden@GRAD"},
                        {"Input@GRAD", "H0@GRAD", "Weight@GRAD", "Bias@GRAD"})
              .cpu_only("processes sequences of different lengths one step at a time")
              .kernels<GruKernel, float, double>());
  ops.add(ops.gradient_of("gru")
              .doc("Gradients of gru.")
              .optional_input("Hidden", "sequences of rows [size]; its values are not read")
              .infer([](InferContext& c) {
                require_gru_shapes(c);
                gradients_like_inputs(c);
              })
              .kernels<GruGradKernel, float, double>());
}

}  // namespace paddle_mini
