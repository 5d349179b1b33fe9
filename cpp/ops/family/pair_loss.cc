// What the records of the losses of two tensors have in common.
#include "ops/family/pair_loss.h"

namespace paddle_mini {
namespace {

void require_pair(const InferContext& c, const PairPorts& ports) {
  require_tensors(c);
  require_same_dtype(c, ports.x, ports.label);
  require_same_shape(c, ports.x, ports.label);
}

}  // namespace

OpSpec pair_loss(const std::string& type, const PairPorts& ports) {
  return OpSpec(type)
      .input(ports.x, "any shape")
      .input(ports.label, "the same shape")
      .output(ports.loss, "the same shape")
      .infer([ports](InferContext& c) {
        require_pair(c, ports);
        c.set_output(ports.loss, c.input(ports.x));
      })
      .gradient(type + "_grad", {ports.x, ports.label, ports.loss_gradient()}, {ports.x_gradient()});
}

OpSpec pair_loss_gradient(const std::string& type, const PairPorts& ports) {
  return OpSpec(type + "_grad")
      .input(ports.x, "as in the forward operator")
      .input(ports.label, "as in the forward operator")
      .input(ports.loss_gradient().c_str(), "the same shape")
      .output(ports.x_gradient().c_str(), "the same shape")
      .infer([ports](InferContext& c) {
        require_pair(c, ports);
        require_same_dtype(c, ports.x, ports.loss_gradient().c_str());
        require_same_shape(c, ports.x, ports.loss_gradient().c_str());
        c.set_output(ports.x_gradient().c_str(), c.input(ports.x));
      })
      .in_place(ports.loss_gradient().c_str(), ports.x_gradient().c_str());
}

}  // namespace paddle_mini
