// Gradients of gradients of operators that are linear in each of their two inputs: products and convolutions.
#pragma once

#include <deque>

#include "core/op_table.h"
#include "math/fill.h"
#include "math/map.h"

namespace paddle_mini {

// Ports of the operator and of the gradient of its gradient, which are PaddlePaddle's.
struct BilinearPorts {
  std::string type, x, y, out;                    // the operator
  std::string second_type, given, second_x, second_y;  // inputs besides x and y
  std::string x_gradient, y_gradient, given_gradient;  // outputs

  explicit BilinearPorts(const std::string& type);
  static BilinearPorts of_second(const std::string& second_type);
};

struct AddElements {
  template <class V>
  PM_HD V operator()(V a, V b) const {
    return a + b;
  }
};

// With Out = F(X, Y), X@GRAD = G(Y, Out@GRAD) and Y@GRAD = H(X, Out@GRAD), and the gradients XX and YY of these two:
// the gradient of X is G(YY, Out@GRAD), that of Y is H(XX, Out@GRAD), that of Out@GRAD is F(XX, Y) + F(X, YY).
template <template <class> class Forward, template <class> class Gradient>
struct BilinearSecondKernel {
  template <class T>
  struct For : Kernel {
    std::deque<OpDesc> descs;
    std::vector<std::unique_ptr<Kernel>> parts;
    Variable *x_gradient, *y_gradient, *given_gradient, *sum = nullptr;
    bool has_x, has_y;  // whether XX and YY are given

    explicit For(KernelInit& init) {
      BilinearPorts p = BilinearPorts::of_second(init.op().type);
      Variable *x = init.input(p.x.c_str()), *y = init.input(p.y.c_str()), *given = init.input(p.given.c_str());
      Variable *xx = init.input(p.second_x.c_str()), *yy = init.input(p.second_y.c_str());
      x_gradient = init.output(p.x_gradient.c_str());
      y_gradient = init.output(p.y_gradient.c_str());
      given_gradient = init.output(p.given_gradient.c_str());
      has_x = xx != nullptr;
      has_y = yy != nullptr;
      auto differentiate = [&](Variable* at_x, Variable* at_y, const std::string& port, Variable* to) {
        OpDesc& desc =
            descs.emplace_back(make_op(p.type + "_grad", {{p.x, {"x"}}, {p.y, {"y"}}, {p.out + "@GRAD", {"g"}}},
                                       {{port + "@GRAD", {"to"}}}, init.op().attrs));
        KernelInit inner(desc, {{at_x}, {at_y}, {given}}, {{to}}, init);
        parts.push_back(std::make_unique<Gradient<T>>(inner));
      };
      auto apply = [&](Variable* at_x, Variable* at_y, Variable* to) {
        OpDesc& desc =
            descs.emplace_back(make_op(p.type, {{p.x, {"x"}}, {p.y, {"y"}}}, {{p.out, {"to"}}}, init.op().attrs));
        KernelInit inner(desc, {{at_x}, {at_y}}, {{to}}, init);
        parts.push_back(std::make_unique<Forward<T>>(inner));
      };
      if (x_gradient && yy) differentiate(x, yy, p.x, x_gradient);
      if (y_gradient && xx) differentiate(xx, y, p.y, y_gradient);
      if (given_gradient && xx) apply(xx, y, given_gradient);
      if (given_gradient && yy) {
        if (xx) {
          sum = init.scratch(dtype_of<T>::value, given_gradient->tensor.shape.numel());
          sum->tensor.shape = given_gradient->tensor.shape;
        }
        apply(x, yy, xx ? sum : given_gradient);
      }
    }

    void run(KernelContext& context) override {
      if (x_gradient && !has_y) clear(context, x_gradient);
      if (y_gradient && !has_x) clear(context, y_gradient);
      if (given_gradient && !has_x && !has_y) clear(context, given_gradient);
      for (auto& part : parts) part->run(context);
      if (!sum) return;
      T* to = static_cast<T*>(given_gradient->tensor.data);
      map(context, given_gradient->tensor.shape.numel(), AddElements{}, to, static_cast<const T*>(to),
          static_cast<const T*>(sum->tensor.data));
    }

   private:
    static void clear(KernelContext& context, Variable* variable) {
      fill_n(context, static_cast<T*>(variable->tensor.data), variable->tensor.shape.numel(), T(0));
    }
  };
};

// The gradient of such an operator, whose own gradient is the operator of these ports.
OpSchema bilinear_gradient_of(const OpTable& ops, const std::string& type);
// The schema of that operator without kernels; the table has the gradient.
OpSchema bilinear_second_gradient(const OpTable& ops, const std::string& type);

}  // namespace paddle_mini
