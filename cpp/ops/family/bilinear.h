// Gradients of gradients of operators that are linear in each of their two inputs: products and convolutions.
#pragma once

#include <deque>

#include "core/op_table.h"
#include "math/arithmetic.h"
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

// With Out = F(X, Y), X@GRAD = G(Y, Out@GRAD) and Y@GRAD = H(X, Out@GRAD), and the gradients XX and YY of these two:
// the gradient of X is G(YY, Out@GRAD), that of Y is H(XX, Out@GRAD), that of Out@GRAD is F(XX, Y) + F(X, YY).
class BilinearSecond : public Kernel {
 public:
  // `forward` makes kernels of F, `gradient` those of G and H.
  BilinearSecond(KernelInit& init, KernelFactory forward, KernelFactory gradient, DType dtype);
  void run(KernelContext& context) override;

 protected:
  virtual void clear(KernelContext& context, Variable* to) const = 0;
  virtual void add(KernelContext& context, const Variable& more, Variable* to) const = 0;  // to += more

 private:
  std::deque<OpDesc> descs_;
  std::vector<std::unique_ptr<Kernel>> parts_;
  Variable *x_gradient_, *y_gradient_, *given_gradient_, *sum_ = nullptr;
  bool has_x_, has_y_;  // whether XX and YY are given
};

template <template <class> class Forward, template <class> class Gradient>
struct BilinearSecondKernel {
  template <class T>
  struct For : BilinearSecond {
    explicit For(KernelInit& init)
        : BilinearSecond(init, &OpSchema::make_kernel<Forward<T>>, &OpSchema::make_kernel<Gradient<T>>,
                         dtype_of<T>::value) {}

   protected:
    void clear(KernelContext& context, Variable* to) const override {
      fill_n(context, static_cast<T*>(to->tensor.data), to->tensor.shape.numel(), T(0));
    }
    void add(KernelContext& context, const Variable& more, Variable* to) const override {
      T* sum = static_cast<T*>(to->tensor.data);
      map(context, to->tensor.shape.numel(), Plus{}, sum, static_cast<const T*>(sum),
          static_cast<const T*>(more.tensor.data));
    }
  };
};

// The gradient of such an operator, whose own gradient is the operator of these ports.
OpSchema bilinear_gradient_of(const OpTable& ops, const std::string& type);
// The schema of that operator without kernels; the table has the gradient.
OpSchema bilinear_second_gradient(const OpTable& ops, const std::string& type);

}  // namespace paddle_mini
