// each_lane of two numbers: for functions of two numbers that have no vector form.
#pragma once

#include "math/vec.h"

namespace paddle_mini {

#ifndef PM_GPU
template <class T, class F>
Vec<T> each_lane(Vec<T> a, Vec<T> b, F f) {
  T left[Vec<T>::size], right[Vec<T>::size];
  a.store(left);
  b.store(right);
  for (int i = 0; i < Vec<T>::size; ++i) left[i] = f(left[i], right[i]);
  return Vec<T>::load(left);
}
#endif

}  // namespace paddle_mini
