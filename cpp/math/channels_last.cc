// Image layouts: channels first and channels last.
#include "math/channels_last.h"

#include <algorithm>

namespace paddle_mini {

bool has_channels_last(const OpDesc& op) { return attr_of<std::string>(op, "data_format") == "NHWC"; }

OpDesc channels_first(OpDesc op) {
  op.set_attr("data_format", std::string("NCHW"));
  return op;
}

bool holds_images(const std::string& port) {
  static const std::vector<std::string> images = {"Input", "Output", "X", "Out"};
  const std::string suffix = kGradSuffix;
  bool of_gradient =
      port.size() > suffix.size() && port.compare(port.size() - suffix.size(), suffix.size(), suffix) == 0;
  return std::count(images.begin(), images.end(), of_gradient ? port.substr(0, port.size() - suffix.size()) : port) > 0;
}

const std::vector<int>& order_of_channels_first() {
  static const std::vector<int> order = {0, 3, 1, 2};
  return order;
}

const std::vector<int>& order_of_channels_last() {
  static const std::vector<int> order = {0, 2, 3, 1};
  return order;
}

InferFunction for_both_layouts(InferFunction infer) {
  return [infer](InferContext& c) {
    if (!has_channels_last(c.op())) return infer(c);
    OpDesc op = channels_first(c.op());
    std::vector<std::vector<VarInfo>> inputs;
    for (const Slot& slot : op.inputs) {
      inputs.emplace_back();
      for (size_t i = 0; i < slot.arguments.size(); ++i) {
        VarInfo info = c.input(slot.name.c_str(), i);
        if (holds_images(slot.name)) {
          require<ShapeError>(info.shape.rank() == 4, slot.name, " has ", info.shape.rank(),
                              " dimensions, it must have 4");
          info.shape = transposed(info.shape, order_of_channels_first());
        }
        inputs.back().push_back(info);
      }
    }
    InferContext inside(op, std::move(inputs));
    infer(inside);
    for (size_t s = 0; s < op.outputs.size(); ++s) {
      for (size_t i = 0; i < op.outputs[s].arguments.size(); ++i) {
        VarInfo info = inside.outputs()[s][i];
        if (holds_images(op.outputs[s].name) && info.shape.rank() == 4)
          info.shape = transposed(info.shape, order_of_channels_last());
        c.output(op.outputs[s].name.c_str(), i) = info;
      }
    }
  };
}

}  // namespace paddle_mini
