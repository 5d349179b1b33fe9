// Rules for gradients of gradients.
#include "core/second_gradient.h"

#include <algorithm>

namespace paddle_mini {
namespace {

// The second gradients for input P of the forward operator; zeros where the first gradient is not computed.
std::vector<std::string> second_gradients(const OpDesc& first, const std::string& port, std::vector<OpDesc>& zeros) {
  std::vector<std::string> given = first.output(port + kGradSuffix), like = first.input(port);
  given.resize(std::max(given.size(), like.size()), kEmptyName);
  std::vector<std::string> names = gradient_names(given);
  for (size_t i = 0; i < names.size(); ++i) {
    if (given[i] != kEmptyName) continue;
    require<ProgramError>(i < like.size(), "without ", port, " its gradient has no gradient");
    names[i] = like[i] + kZerosSuffix;
    zeros.push_back(make_op("fill_any_like", {{"X", {like[i]}}}, {{"Out", {names[i]}}}, {{"value", 0.0f}}));
  }
  return names;
}

}  // namespace

GradientRule operator_again(const OpSchema& forward, const OpSchema& gradient, std::vector<Attr> changed) {
  std::vector<std::string> inputs, outputs, differentiable;
  for (const PortSchema& port : forward.inputs()) {
    inputs.push_back(port.name);
    if (has_port(gradient.outputs(), port.name + kGradSuffix)) differentiable.push_back(port.name);
  }
  for (const PortSchema& port : forward.outputs()) outputs.push_back(port.name);
  return [=, type = forward.type()](const OpDesc& first) {
    std::vector<OpDesc> ops;
    OpDesc again = make_op(type, {}, {}, first.attrs);
    for (const std::string& port : inputs) {
      bool linear = std::count(differentiable.begin(), differentiable.end(), port) > 0;
      std::vector<std::string> names = linear ? second_gradients(first, port, ops) : first.input(port);
      if (!names.empty()) again.inputs.push_back({port, names});
    }
    for (const std::string& port : outputs) {
      const std::vector<std::string>& names = first.input(port + kGradSuffix);
      if (!names.empty()) again.outputs.push_back({port, gradient_names(names)});
    }
    for (const Attr& attr : changed) again.set_attr(attr.name, attr.value);
    ops.push_back(std::move(again));
    return ops;
  };
}

GradientRule gradient_again(std::string out_gradient, std::string x_gradient) {
  return [=](const OpDesc& first) {
    OpDesc again = first;
    for (Slot& slot : again.inputs)
      if (slot.name == out_gradient) slot.arguments = gradient_names(first.output(x_gradient));
    again.outputs = {{x_gradient, gradient_names(first.input(out_gradient))}};
    return std::vector<OpDesc>{again};
  };
}

OpSchema linear_gradient_of(const OpTable& ops, const std::string& type, std::vector<Attr> changed) {
  OpSchema gradient = ops.gradient_of(type);
  GradientRule rule = operator_again(ops.at(type), gradient, std::move(changed));
  return gradient.gradient(std::move(rule));
}

}  // namespace paddle_mini
