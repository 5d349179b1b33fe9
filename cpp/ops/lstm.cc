// lstm: LSTM over sequences; its input is already multiplied by its weights
#include "core/op_table.h"
#include "math/cpu/packed_gemm.h"
#include "math/cpu/packed_input.h"
#include "math/cpu/recurrent.h"
#include "math/gemm.h"
#include "math/sequence_batches.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

// One row of LSTM with peepholes (Gers and Schmidhuber 2000) and the gates c~ i f o:
//   i, f = gate(sum + w c'), c = f c' + i candidate(sum), o = gate(sum + w c), h = o activation(c)
struct Cell {
  AnyActivation gate, activation, candidate;

  explicit Cell(const KernelInit& init)
      : gate(init.attr<std::string>("gate_activation")), activation(init.attr<std::string>("cell_activation")),
        candidate(init.attr<std::string>("candidate_activation")) {}

  template <class V>
  auto operator()(V g, V i, V f, V o, V wi, V wf, V wo, V last) const {
    V value = candidate(g), input = gate(i + wi * last), forget = gate(f + wf * last);
    V cell = value * input + forget * last, output = gate(o + wo * cell), squashed = activation(cell);
    return std::make_tuple(value, input, forget, output, squashed, cell, output * squashed);
  }
};

struct CellGradient {
  Cell of;

  template <class V>
  auto operator()(V g, V i, V f, V o, V wi, V wf, V wo, V last, V squashed, V to_hidden, V to_cell) const {
    V output = to_hidden * squashed * of.gate.slope(o);
    V cell = to_cell + to_hidden * o * of.activation.slope(squashed) + output * wo;
    V input = cell * g * of.gate.slope(i), forget = cell * last * of.gate.slope(f);
    return std::make_tuple(cell * i * of.candidate.slope(g), input, forget, output,
                           cell * f + input * wi + forget * wf);
  }
};

template <class T>
PackedGemm<T> product(int64_t k, int64_t n) {
  PackedGemm<T> gemm;
  gemm.k = k, gemm.n = n;
  return gemm;
}

// The expected time of one row of one step.
double row_cost(int64_t size) { return flops_cost(8.0 * static_cast<double>(size) * static_cast<double>(size)); }

template <class T>
struct LstmKernel : Kernel {
  In<T> x, first, first_cell, weight, bias;
  Out<T> hidden, cell, gates, squashed;
  SequenceBatches batches;
  int64_t size;
  bool peepholes;
  Cell rule;
  PackedGemm<T> gemm;
  PackedInput<T> packed;
  Scratch<T> state, cells, zeros;

  explicit LstmKernel(KernelInit& init)
      : x(init, "Input"), first(init, "H0", optional_port), first_cell(init, "C0", optional_port),
        weight(init, "Weight"), bias(init, "Bias"), hidden(init, "Hidden"), cell(init, "Cell"),
        gates(kept_or_scratch<T>(init, "BatchGate", x.numel())),
        squashed(kept_or_scratch<T>(init, "BatchCellPreAct", hidden.numel())),
        batches(x.variable().tensor.lod, init.attr<bool>("is_reverse")), size(weight.shape()[0]),
        peepholes(init.attr<bool>("use_peepholes")), rule(init), gemm(product<T>(size, 4 * size)),
        packed(init, "Weight", "panels of an LSTM", {size}, gemm.packed_size()), state(init, batches.count() * size),
        cells(init, batches.count() * size), zeros(init, peepholes ? 0 : 3 * size) {}

  void run(KernelContext& context) override {
    batches.gather(context, x.data(), 4 * size, gates.data());
    add_to_rows(context, x.shape()[0], 4 * size, bias.data(), gates.data());
    if (!peepholes) std::fill_n(zeros.data(), 3 * size, T(0));
    batches.gather_first(context, first ? first.data() : nullptr, size, state.data());
    batches.gather_first(context, first_cell ? first_cell.data() : nullptr, size, cells.data());
    const T* weights = packed.get(context, [this](T* to) { gemm.pack(weight.data(), 4 * size, false, to); });
    batches.each_step(context, false, row_cost(size), [&](int64_t t, int64_t begin, int64_t count) {
      int64_t row = batches.starts[t] + begin;
      gemm.run(context, count, state.data() + begin * size, size, weights, gates.data() + row * 4 * size, 4 * size,
               true);
      for (int64_t i = 0; i < count; ++i) run_row(context, row + i, begin + i);
    });
  }

  void run_row(KernelContext& context, int64_t row, int64_t i) {
    T *g = gates.data() + row * 4 * size, *c = cells.data() + i * size, *h = state.data() + i * size;
    const T *from = g, *last = c, *w = peepholes ? bias.data() + 4 * size : zeros.data();
    map(context, size, rule,
        std::make_tuple(g, g + size, g + 2 * size, g + 3 * size, squashed.data() + row * size, c, h), from, from + size,
        from + 2 * size, from + 3 * size, w, w + size, w + 2 * size, last);
    std::copy_n(c, size, cell.data() + batches.rows[row] * size);
    std::copy_n(h, size, hidden.data() + batches.rows[row] * size);
  }
};

template <class T>
struct LstmGradKernel : Kernel {
  In<T> first, first_cell, weight, bias, hidden, cell, gates, squashed, hidden_gradient, cell_gradient;
  Out<T> x_gradient, first_gradient, first_cell_gradient, weight_gradient, bias_gradient;
  SequenceBatches batches;
  int64_t size;
  bool peepholes;
  CellGradient rule;
  Scratch<T> packed, last, cells, to_gates, to_hidden, to_cell, zeros;

  explicit LstmGradKernel(KernelInit& init)
      : first(init, "H0", optional_port), first_cell(init, "C0", optional_port), weight(init, "Weight"),
        bias(init, "Bias"), hidden(init, "Hidden"), cell(init, "Cell"), gates(init, "BatchGate"),
        squashed(init, "BatchCellPreAct"), hidden_gradient(init, "Hidden@GRAD"),
        cell_gradient(init, "Cell@GRAD", optional_port), x_gradient(init, "Input@GRAD", optional_port),
        first_gradient(init, "H0@GRAD", optional_port), first_cell_gradient(init, "C0@GRAD", optional_port),
        weight_gradient(init, "Weight@GRAD", optional_port), bias_gradient(init, "Bias@GRAD", optional_port),
        batches(init.input("Input")->tensor.lod, init.attr<bool>("is_reverse")), size(weight.shape()[0]),
        peepholes(init.attr<bool>("use_peepholes")), rule{Cell(init)},
        packed(init, product<T>(4 * size, size).packed_size()),
        last(init, std::max(hidden.numel(), batches.count() * size)),
        cells(init, std::max(hidden.numel(), batches.count() * size)), to_gates(init, gates.numel()),
        to_hidden(init, batches.count() * size), to_cell(init, batches.count() * size),
        zeros(init, peepholes ? 0 : 3 * size) {}

  // Gathers the value before each row of the batches.
  void gather_last(KernelContext& context, const In<T>& start, const T* values, T* to) const {
    batches.gather_first(context, start ? start.data() : nullptr, size, to);
    batches.each_step(context, false, bytes_cost(16.0 * static_cast<double>(size)),
                      [&](int64_t t, int64_t begin, int64_t count) {
                        for (int64_t i = begin; t > 0 && i < begin + count; ++i) {
                          int64_t before = batches.rows[batches.starts[t - 1] + i];
                          std::copy_n(values + before * size, size, to + (batches.starts[t] + i) * size);
                        }
                      });
  }

  void run(KernelContext& context) override {
    gather_last(context, first, hidden.data(), last.data());
    gather_last(context, first_cell, cell.data(), cells.data());
    if (!peepholes) std::fill_n(zeros.data(), 3 * size, T(0));
    for (const Scratch<T>* state : {&to_hidden, &to_cell}) std::fill_n(state->data(), state->numel(), T(0));
    PackedGemm<T> back = product<T>(4 * size, size);
    back.pack(weight.data(), 4 * size, true, packed.data());
    batches.each_step(context, true, row_cost(size), [&](int64_t t, int64_t begin, int64_t count) {
      int64_t row = batches.starts[t] + begin;
      for (int64_t i = 0; i < count; ++i) run_row(context, row + i, begin + i);
      back.run(context, count, to_gates.data() + row * 4 * size, 4 * size, packed.data(),
               to_hidden.data() + begin * size, size, false);
    });
    if (first_gradient) batches.scatter_first(context, to_hidden.data(), size, first_gradient.data());
    if (first_cell_gradient) batches.scatter_first(context, to_cell.data(), size, first_cell_gradient.data());
    if (x_gradient) batches.scatter(context, to_gates.data(), 4 * size, x_gradient.data());
    if (bias_gradient) to_bias(context);
    if (weight_gradient) {
      GemmSizes<T> sizes{true, false, size, 4 * size, hidden.shape()[0]};
      Gemm<T>(sizes, context.threads).run(context, last.data(), to_gates.data(), weight_gradient.data());
    }
  }

  void run_row(KernelContext& context, int64_t row, int64_t i) {
    int64_t place = batches.rows[row] * size;
    T *to = to_gates.data() + row * 4 * size, *h = to_hidden.data() + i * size, *c = to_cell.data() + i * size;
    add_row(context, size, hidden_gradient.data() + place, h);
    if (cell_gradient) add_row(context, size, cell_gradient.data() + place, c);
    const T *g = gates.data() + row * 4 * size, *w = peepholes ? bias.data() + 4 * size : zeros.data();
    map(context, size, rule, std::make_tuple(to, to + size, to + 2 * size, to + 3 * size, c), g, g + size, g + 2 * size,
        g + 3 * size, w, w + size, w + 2 * size, static_cast<const T*>(cells.data() + row * size),
        squashed.data() + row * size, static_cast<const T*>(h), static_cast<const T*>(c));
  }

  // The peepholes of the input and forget gates use the cell before the step, that of the output gate the cell after
  // it.
  void to_bias(KernelContext& context) {
    int64_t rows = hidden.shape()[0];
    sum_rows(context, rows, 4 * size, to_gates.data(), bias_gradient.data());
    if (!peepholes) return;
    auto add = [](auto sum, auto a, auto b) { return sum + a * b; };
    for (int64_t k = 0; k < 3; ++k) {
      each_column_range(context, size, rows, sizeof(T), [&](int64_t begin, int64_t n) {
        T* sum = bias_gradient.data() + (4 + k) * size + begin;
        std::fill_n(sum, n, T(0));
        for (int64_t row = 0; row < rows; ++row) {
          const T* factor = k == 2 ? cell.data() + batches.rows[row] * size : cells.data() + row * size;
          map(context, n, add, sum, static_cast<const T*>(sum), to_gates.data() + (row * 4 + k + 1) * size + begin,
              factor + begin);
        }
      });
    }
  }
};

void require_lstm_shapes(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "Input", 2);
  require_rank(c, "Weight", 2);
  sequences(c, "Input");  // throws unless its offsets are those of sequences of its rows
  int64_t rows = c.shape("Input")[0], size = c.shape("Weight")[0];
  auto check = [&c](const char* port, const Shape& wanted) {
    if (!c.has_input(port)) return;
    require_same_dtype(c, "Input", port);
    require<ShapeError>(shapes_agree(c.shape(port), wanted), port, " has shape ", c.shape(port).str(),
                        ", it must have ", wanted.str(), ": Weight has ", c.shape("Weight").str());
  };
  auto wide = [size](int64_t times) { return size < 0 ? -1 : times * size; };
  for (const char* port : {"Input", "BatchGate"}) check(port, {rows, wide(4)});
  for (const char* port : {"Hidden", "Cell", "BatchCellPreAct", "Hidden@GRAD", "Cell@GRAD"}) check(port, {rows, size});
  check("Weight", {size, wide(4)});
  check("Bias", {1, wide(c.attr<bool>("use_peepholes") ? 7 : 4)});
  for (const char* port : {"H0", "C0"}) require_first(c, port, "Input", size);
}

void infer_forward(InferContext& c) {
  require_lstm_shapes(c);
  VarInfo hidden = c.input("Input"), batch = hidden;
  hidden.shape[1] = batch.shape[1] = c.shape("Weight")[0];
  batch.lod.clear();
  batch.lod_level = 0;
  for (const char* port : {"Hidden", "Cell"}) c.set_output(port, hidden);
  c.set_output("BatchCellPreAct", batch);
  batch.shape[1] = c.shape("Input")[1];
  describe_batches(hidden.lod, c.attr<bool>("is_reverse"), batch);
  c.set_output("BatchGate", batch);
}

}  // namespace

void define_lstm(OpTable& ops) {
  std::vector<std::string> activations{"identity", "sigmoid", "tanh", "relu"};
  ops.add(OpSchema("lstm")
              .doc("For each row of a sequence, with h' and c' of the previous row and the sums Input + Bias + h' "
                   "Weight: i, f = gate_activation(sum + w c'), Cell = f c' + i candidate_activation(sum), o = "
                   "gate_activation(sum + w Cell), Hidden = o cell_activation(Cell). A batch has the rows of one step, "
                   "the longest sequence first.")
              .input("Input", "sequences of rows [4 size]: c~, i, f, o")
              .optional_input("H0", "[sequences, size]: the state before each sequence; 0 if omitted")
              .optional_input("C0", "[sequences, size]: the cell before each sequence; 0 if omitted")
              .input("Weight", "[size, 4 size]")
              .input("Bias", "[1, 4 size]; with peepholes [1, 7 size], their weights w_i, w_f, w_o last")
              .output("Hidden", "sequences of rows [size]")
              .output("Cell", "sequences of rows [size]")
              .optional_output("BatchGate",
                               "shape of Input: c~, i, f, o in the order of the batches, which its lod gives")
              .optional_output("BatchCellPreAct", "[rows, size]: cell_activation(Cell) in the order of the batches")
              .attr("use_peepholes", true, "whether the gates read the cell (peephole connections)")
              .attr("is_reverse", false, "whether each sequence is processed from its end to its beginning")
              .attr("gate_activation", "sigmoid", "activation of the gates", one_of(activations))
              .attr("cell_activation", "tanh", "activation of the cell for the output", one_of(activations))
              .attr("candidate_activation", "tanh", "activation of the candidate", one_of(activations))
              .infer(infer_forward)
              .custom_lod()
              .gradient("lstm_grad",
                        {"Input", "H0", "C0", "Weight", "Bias", "Hidden", "Cell", "BatchGate", "BatchCellPreAct",
                         "Hidden@GRAD", "Cell@GRAD"},
                        {"Input@GRAD", "H0@GRAD", "C0@GRAD", "Weight@GRAD", "Bias@GRAD"})
              .cpu_only("processes sequences of different lengths one step at a time")
              .kernels<LstmKernel, float, double>());
  ops.add(ops.gradient_of("lstm")
              .doc("Gradients of lstm.")
              .optional_input("Cell@GRAD", "shape of Cell; 0 if omitted")
              .infer([](InferContext& c) {
                require_lstm_shapes(c);
                gradients_like_inputs(c);
              })
              .kernels<LstmGradKernel, float, double>());
}

}  // namespace paddle_mini
