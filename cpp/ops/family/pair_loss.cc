// Schemas shared by the losses of two tensors.
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

void require_pair(const InferContext& c, const PairPorts& ports) {
  require_tensors(c);
  require_same_dtype(c, ports.x, ports.label);
  require_same_shape(c, ports.x, ports.label);
}

}  // namespace

OpSchema pair_loss(const std::string& type, const PairPorts& ports) {
  return OpSchema(type)
      .input(ports.x, "any shape")
      .input(ports.label, "the same shape")
      .output(ports.loss, "the same shape")
      .on_gpu()
      .infer([ports](InferContext& c) {
        require_pair(c, ports);
        c.set_output(ports.loss, c.input(ports.x));
      })
      .gradient(type + "_grad", {ports.x, ports.label, ports.loss_gradient()}, {ports.x_gradient()});
}

OpSchema pair_loss_gradient(const OpTable& ops, const std::string& forward, const PairPorts& ports) {
  return ops.gradient_of(forward).in_place(ports.loss_gradient().c_str(), ports.x_gradient().c_str());
}

}  // namespace paddle_mini
