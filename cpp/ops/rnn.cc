// rnn: layers of LSTM, GRU or simple recurrent cells over sequences padded to a common length
#include "core/op_table.h"
#include "math/copy.h"
#include "ops/rnn_ports.h"

namespace paddle_mini {
namespace {

template <class T>
struct RnnKernel : Kernel {
  RnnPorts<T> p;
  Out<T> out, reserve;
  std::vector<Out<T>> last;
  std::vector<RnnProducts<T>> products;  // by layer and direction
  Out<uint8_t> mask;
  int64_t seed;
  Scratch<T> scratch;
  Scratch<uint8_t> own_mask;

  explicit RnnKernel(KernelInit& init)
      : p(init), out(init, "Out"), reserve(init, "Reserve"), mask(init, "DropoutState", optional_port),
        seed(init.attr<int32_t>("seed")), scratch(init, RnnLayer<T>::scratch_size(p.stack.size, false)),
        own_mask(init, p.stack.drops && !mask ? out.numel() : 0) {
    for (size_t i = 0; i < p.first.size(); ++i) last.emplace_back(init, "State", i);
    for (int64_t run = 0; run < p.stack.runs(); ++run) {
      products.emplace_back(init, p.stack.size, p.stack.input_of(run / p.stack.directions), 2 * run, 2 * run + 1);
    }
  }

  void run(KernelContext& context) override {
    const RnnStack& s = p.stack;
    // The same elements are dropped between all layers, as in PaddlePaddle.
    if (s.drops) fill_mask(context, std::nullopt, seed, s.dropout, kept(), out.numel());
    else if (mask) fill_n(context, mask.data(), out.numel(), uint8_t{1});
    for (int64_t layer = 0; layer < s.layers; ++layer) {
      bool top = layer + 1 == s.layers;
      T* to = top ? out.data() : p.layer_out(reserve.data(), layer);
      for (int64_t d = 0; d < s.directions; ++d) {
        int64_t run = layer * s.directions + d;
        p.layer(reserve.data(), layer, d)
            .run(context, products[run], p.template states_of<T>(last, run), to + d * s.size.hidden, s.width(),
                 scratch.data());
      }
      if (s.drops && !top) p.drop(context, out.numel(), kept(), to, p.dropped(reserve.data(), layer));
    }
  }

  uint8_t* kept() const { return mask ? mask.data() : own_mask.data(); }
};

template <class T>
struct RnnGradKernel : Kernel {
  RnnPorts<T> p;
  In<T> out, reserve, out_gradient;
  In<uint8_t> mask;
  std::vector<In<T>> last_gradients;
  Out<T> x_gradient;
  std::vector<Variable*> first_gradients, weight_gradients;
  Scratch<T> between[2], scratch;

  explicit RnnGradKernel(KernelInit& init)
      : p(init), out(init, "Out"), reserve(init, "Reserve"), out_gradient(init, "Out@GRAD"),
        mask(init, "DropoutState", optional_port), last_gradients(in_list<T>(init, "State@GRAD")),
        x_gradient(init, "Input@GRAD", optional_port), between{Scratch<T>(init, p.stack.layers > 1 ? out.numel() : 0),
                                                               Scratch<T>(init, p.stack.layers > 2 ? out.numel() : 0)},
        scratch(init, RnnLayer<T>::scratch_size(p.stack.size, true)) {
    for (size_t i = 0; i < p.first.size(); ++i) first_gradients.push_back(init.output("PreState@GRAD", i));
    for (size_t i = 0; i < p.weights.size(); ++i) weight_gradients.push_back(init.output("WeightList@GRAD", i));
  }

  void run(KernelContext& context) override {
    const RnnStack& s = p.stack;
    const T* gradient = out_gradient.data();
    for (int64_t layer = s.layers; layer-- > 0;) {
      T* to = x_gradient ? x_gradient.data() : nullptr;
      if (layer > 0) to = between[layer % 2 == 0 ? 1 : 0].data();
      for (int64_t d = 0; d < s.directions; ++d) run_layer(context, layer, d, gradient, to);
      if (layer > 0 && s.drops) p.drop(context, out.numel(), mask.data(), to, to);
      gradient = to;
    }
  }

  static T* data_of(Variable* variable) { return variable ? static_cast<T*>(variable->tensor.data) : nullptr; }

  void run_layer(KernelContext& context, int64_t layer, int64_t d, const T* gradient, T* to) {
    const RnnStack& s = p.stack;
    int64_t run = layer * s.directions + d, biases = 2 * s.runs();
    auto first = [&](size_t i) {
      T* states = i < first_gradients.size() ? data_of(first_gradients[i]) : nullptr;
      return states ? states + p.state_at(run) : nullptr;
    };
    RnnWeights<T> weights{data_of(weight_gradients[2 * run]), data_of(weight_gradients[2 * run + 1]),
                          data_of(weight_gradients[biases + 2 * run]), data_of(weight_gradients[biases + 2 * run + 1])};
    T* forward = const_cast<T*>(reserve.data());  // only read here
    const T* values = layer + 1 == s.layers ? out.data() : p.layer_out(forward, layer);
    int64_t shift = d * s.size.hidden;
    p.layer(forward, layer, d)
        .run_gradient(context, values + shift, gradient + shift, s.width(),
                      p.template states_of<const T>(last_gradients, run), {first(0), first(1)}, to, d > 0, weights,
                      scratch.data());
  }
};

void require_shape(const VarInfo& info, const VarInfo& x, const Shape& wanted, const std::string& what) {
  require<ShapeError>(info.dtype == x.dtype, what, " is ", name_of(info.dtype), ", Input is ", name_of(x.dtype));
  require<ShapeError>(shapes_agree(info.shape, wanted), what, " has shape ", info.shape.str(), ", it must have ",
                      wanted.str());
}

void require_weights(const InferContext& c, const RnnStack& s) {
  int64_t count = static_cast<int64_t>(c.input_count("WeightList")), gates = s.size.gate_width();
  require<ShapeError>(count == 4 * s.runs(), "WeightList has ", count, " tensors, ", s.layers, " layers of ",
                      s.directions, " directions need ", 4 * s.runs());
  for (int64_t i = 0; i < count; ++i) {
    Shape wanted{gates};
    if (i < 2 * s.runs()) wanted.push_back(i % 2 ? s.size.hidden : s.input_of(i / 2 / s.directions));
    require_shape(c.input("WeightList", i), c.input("Input"), wanted, text("WeightList[", i, "]"));
  }
}

RnnStack stack_of(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "Input", 3);
  RnnStack s(c.op(), c.shape("Input"));
  Shape state{s.runs(), s.size.batch, s.size.hidden};
  for (const char* port : {"PreState", "State@GRAD"}) {
    size_t count = c.input_count(port);
    if (count == 0 && port != std::string("PreState")) continue;
    require<ShapeError>(static_cast<int64_t>(count) == s.states(), port, " has ", count, " tensors, mode ",
                        c.attr<std::string>("mode"), " needs ", s.states());
    for (size_t i = 0; i < count; ++i) {
      require_shape(c.input(port, i), c.input("Input"), state, text(port, "[", i, "]"));
    }
  }
  require_weights(c, s);
  if (c.has_input("SequenceLength")) {
    require_index(c, "SequenceLength");
    require<ShapeError>(shapes_agree(c.shape("SequenceLength"), Shape{s.size.batch}), "SequenceLength has shape ",
                        c.shape("SequenceLength").str(), ", the batch is ", s.size.batch);
  }
  return s;
}

Shape out_shape(const RnnStack& s) { return {s.size.steps, s.size.batch, s.width()}; }
Shape reserve_shape(const RnnStack& s) {
  return {s.size.steps < 0 || s.size.batch < 0 ? -1 : Shape{s.size.steps, s.size.batch, s.values()}.numel()};
}

void infer_forward(InferContext& c) {
  RnnStack s = stack_of(c);
  DType dtype = c.input("Input").dtype;
  c.set_output("Out", dtype, out_shape(s));
  c.set_output("Reserve", dtype, reserve_shape(s));
  c.set_output("DropoutState", DType::UInt8, out_shape(s));
  require<ProgramError>(static_cast<int64_t>(c.output_count("State")) == s.states(), "there are ",
                        c.output_count("State"), " State, mode ", c.attr<std::string>("mode"), " has ", s.states());
  for (size_t i = 0; i < c.output_count("State"); ++i) {
    c.output("State", i) = {VarKind::Tensor, dtype, {s.runs(), s.size.batch, s.size.hidden}};
  }
}

void infer_backward(InferContext& c) {
  RnnStack s = stack_of(c);
  for (const char* port : {"Out", "Out@GRAD"}) require_shape(c.input(port), c.input("Input"), out_shape(s), port);
  require_shape(c.input("Reserve"), c.input("Input"), reserve_shape(s), "Reserve");
  require<ShapeError>(!s.drops || c.has_input("DropoutState"), "DropoutState is missing, but rnn dropped elements");
  if (c.has_input("DropoutState")) {
    const VarInfo& mask = c.input("DropoutState");
    require<ShapeError>(mask.dtype == DType::UInt8 && shapes_agree(mask.shape, out_shape(s)), "DropoutState is ",
                        mask.str(), ", it must be ", out_shape(s).str(), " uint8");
  }
  for (const char* port : {"PreState", "WeightList"}) {
    std::string gradient = std::string(port) + kGradSuffix;
    require<ProgramError>(c.output_count(gradient.c_str()) <= c.input_count(port), "there are ",
                          c.output_count(gradient.c_str()), " ", gradient, " for ", c.input_count(port), " ", port);
  }
  gradients_like_inputs(c);
}

}  // namespace

void define_rnn(OpTable& ops) {
  ops.add(
      OpSchema("rnn")
          .doc(
              "Layers of recurrent cells. LSTM, gates i f c~ o: c = f c' + i c~, h = o tanh(c). GRU, gates r z c~: c~ "
              "= tanh(W_i x + b_i + r (W_h h' + b_h)), h = (1 - z) c~ + z h'. RNN_TANH, RNN_RELU: h = activation(W_i x "
              "+ b_i + W_h h' + b_h).")
          .input("Input", "[time, batch, elements]")
          .input_list("PreState",
                      "the initial state [layers * directions, batch, hidden_size]; for LSTM also the initial cell")
          .input_list("WeightList",
                      "for each layer and direction W_i [gates * hidden_size, elements of its input], W_h "
                      "[gates * hidden_size, hidden_size]; then for each b_i, b_h [gates * hidden_size]")
          .optional_input("SequenceLength", "[batch], int32 or int64: steps of each sequence; the rest is padding")
          .output("Out", "[time, batch, directions * hidden_size]: the last layer's states; padding is 0")
          .optional_output("DropoutState", "shape of Out, uint8: 1 where an element between two layers was kept")
          .output_list("State", "like PreState: the states after each sequence's last step")
          .output("Reserve", "the values of all layers that the gradient reads")
          .attr("dropout_prob", 0.0f, "probability that an element between two layers is dropped", between(0, 1))
          .attr("is_bidirec", false, "whether each layer also runs from the last step to the first")
          .attr("input_size", 10, "elements of Input's rows; not read: Input determines it")
          .attr("hidden_size", 100, "the number of elements of a state", at_least(1))
          .attr("num_layers", 1, "the number of layers; each reads the output of the previous one", at_least(1))
          .attr("mode", "RNN_TANH", "the cell", one_of({"LSTM", "GRU", "RNN_TANH", "RNN_RELU"}))
          .attr("seed", 0, "every run with this seed drops the same elements; 0: not fixed")
          .attr("is_test", false, "whether nothing is dropped")
          .infer(infer_forward)
          .gradient("rnn_grad",
                    {"DropoutState", "Input", "Out", "PreState", "Reserve", "SequenceLength", "WeightList", "Out@GRAD",
                     "State@GRAD"},
                    {"Input@GRAD", "PreState@GRAD", "WeightList@GRAD"})
          .on_gpu()
          .kernels<RnnKernel, float, double>());
  ops.add(ops.gradient_of("rnn")
              .doc("Gradients of rnn by backpropagation through time.")
              .optional_input("DropoutState", "of rnn")
              .optional_input_list("State@GRAD", "like State; 0 if omitted")
              .infer(infer_backward)
              .dtype_from_input("Input")
              .kernels<RnnGradKernel, float, double>());
}

}  // namespace paddle_mini
