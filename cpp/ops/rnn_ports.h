// The inputs of rnn and rnn_grad, and the layout of Reserve.
#pragma once

#include <optional>

#include "core/op_schema.h"
#include "math/drop_mask.h"
#include "math/rnn_layer.h"

namespace paddle_mini {

// The sizes of the network and the layout of Reserve. Each layer stores the values that the gradient of each direction
// reads. Each layer except the last also stores its output and, with dropout, the output after dropout.
struct RnnStack {
  RnnSizes size;
  int64_t input, layers, directions;
  float dropout;
  bool drops;

  RnnStack(const OpDesc& op, const Shape& x)
      : size{rnn_mode(attr_of<std::string>(op, "mode")), x[0], x[1], attr_of<int32_t>(op, "hidden_size")}, input(x[2]),
        layers(attr_of<int32_t>(op, "num_layers")), directions(attr_of<bool>(op, "is_bidirec") ? 2 : 1),
        dropout(attr_of<float>(op, "dropout_prob")), drops(dropout > 0 && !attr_of<bool>(op, "is_test") && layers > 1) {
  }

  int64_t states() const { return size.mode == RnnMode::Lstm ? 2 : 1; }
  int64_t runs() const { return layers * directions; }
  int64_t width() const { return directions * size.hidden; }
  int64_t input_of(int64_t layer) const { return layer == 0 ? input : width(); }
  // Values per row of time and batch.
  int64_t layer_values() const { return directions * size.kept() + width() * (drops ? 2 : 1); }
  int64_t values() const { return layers * layer_values() - width() * (drops ? 2 : 1); }
};

template <class T>
struct RnnPorts {
  RnnStack stack;
  In<T> x;
  std::vector<In<T>> first, weights;
  std::optional<IndexIn> lengths;

  explicit RnnPorts(KernelInit& init)
      : stack(init.op(), init.input("Input")->tensor.shape), x(init, "Input"), first(in_list<T>(init, "PreState")),
        weights(in_list<T>(init, "WeightList")) {
    if (init.input("SequenceLength")) lengths.emplace(init, "SequenceLength");
  }

  int64_t state_at(int64_t run) const { return run * stack.size.batch * stack.size.hidden; }
  T* layer_kept(T* reserve, int64_t layer) const { return reserve + layer * stack.layer_values() * stack.size.rows(); }
  // The output of a layer other than the last, before and after dropout.
  T* layer_out(T* reserve, int64_t layer) const {
    return layer_kept(reserve, layer) + stack.directions * stack.size.kept() * stack.size.rows();
  }
  T* dropped(T* reserve, int64_t layer) const {
    return layer_out(reserve, layer) + (stack.drops ? stack.width() * stack.size.rows() : 0);
  }

  RnnLayer<T> layer(T* reserve, int64_t layer, int64_t direction) const {
    int64_t run = layer * stack.directions + direction, biases = 2 * stack.runs(), steps = stack.size.steps;
    return RnnLayer<T>({stack.size,
                        stack.input_of(layer),
                        direction == 1,
                        {steps, lengths ? lengths->data() : nullptr, lengths && lengths->wide()},
                        {weights[2 * run].data(), weights[2 * run + 1].data(), weights[biases + 2 * run].data(),
                         weights[biases + 2 * run + 1].data()},
                        layer == 0 ? x.data() : dropped(reserve, layer - 1),
                        layer_kept(reserve, layer) + direction * stack.size.kept() * stack.size.rows(),
                        states_of<const T>(first, run)});
  }

  // The states of a run among all of a list of In or Out; nullptr if the list is empty.
  template <class V, class List>
  RnnStates<V> states_of(const List& list, int64_t run) const {
    auto at = [&](size_t i) { return i < list.size() ? list[i].data() + state_at(run) : nullptr; };
    return {at(0), at(1)};
  }

  void drop(KernelContext& context, int64_t n, const uint8_t* mask, const T* from, T* to) const {
    T factor = stack.dropout < 1 ? T(1) / (T(1) - static_cast<T>(stack.dropout)) : T(0);
    map(context, n, ApplyMask<T>{factor}, to, from, mask);
  }
};

}  // namespace paddle_mini
