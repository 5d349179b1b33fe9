// elementwise_fmax and elementwise_fmin, which choose the larger, or smaller, of two numbers; NaN loses against a number.
#pragma once

#include "ops/family/elementwise.h"

namespace paddle_mini {

// of_x where X comes first by Order, which is true for equal numbers, or Y is NaN; else of_y.
template <class Order, class V>
PM_HD V choose_number(V x, V y, V of_x, V of_y) {
  return select(Order{}(x, y), of_x, select(y == y, of_y, of_x));
}

template <class Order>
struct ChosenNumber {
  template <class V>
  PM_HD V operator()(V x, V y) const {
    return choose_number<Order>(x, y, x, y);
  }
};

template <class Order>
struct WhereXIsChosen {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return choose_number<Order>(x, y, gradient, V(0));
  }
};

template <class Order>
struct WhereYIsChosen {
  template <class V>
  PM_HD V operator()(V x, V y, V gradient) const {
    return choose_number<Order>(x, y, V(0), gradient);
  }
};

}  // namespace paddle_mini
