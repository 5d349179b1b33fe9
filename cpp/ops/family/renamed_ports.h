// A kernel of an operator that is the same as another one with other names of ports.
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

// Names has `type`, the other operator, and lists of pairs `inputs` and `outputs`: its port, and the port here.
template <template <class> class Inner, class Names>
struct RenamedPorts {
  template <class T>
  struct For : Kernel {
    OpDesc desc;
    std::unique_ptr<Inner<T>> inner;

    explicit For(KernelInit& init) : desc(make_op(Names::type, {}, {}, init.op().attrs)) {
      std::vector<std::vector<Variable*>> inputs, outputs;
      for (auto [port, here] : Names::inputs) {
        desc.inputs.push_back({port, {here}});
        inputs.push_back({init.input(here)});
      }
      for (auto [port, here] : Names::outputs) {
        desc.outputs.push_back({port, {here}});
        outputs.push_back({init.output(here)});
      }
      KernelInit renamed(desc, std::move(inputs), std::move(outputs), init);
      inner = std::make_unique<Inner<T>>(renamed);
    }
    void run(KernelContext& context) override { inner->run(context); }
    bool may_fail_validation() const override { return inner->may_fail_validation(); }
    void refuse(const Fault& fault) const override { inner->refuse(fault); }
  };
};

}  // namespace paddle_mini
