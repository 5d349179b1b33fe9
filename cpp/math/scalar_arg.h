// ScalarArg<T>: one number for all elements, which may be in a tensor. On a GPU the functor reads it, so that the host
// need not wait for it. Constructed from a T, In<T>, Out<T>, NumberIn or IndexIn; operator() returns the value.
#pragma once

#include "core/kernel.h"

#include PM_LAUNCHERS(scalar_arg)

namespace paddle_mini {

// The tensor's value if the program provides the input, else `otherwise`.
template <class T, class Input>
ScalarArg<T> scalar_or(const Input& in, T otherwise) {
  return in ? ScalarArg<T>(in) : ScalarArg<T>(otherwise);
}

}  // namespace paddle_mini
