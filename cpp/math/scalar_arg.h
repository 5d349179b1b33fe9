// ScalarArg<T>: one number for all elements, which a tensor may hold: on a GPU it is read where the functor runs, so that the
// host need not wait for it. It is made of a T, an In<T>, an Out<T>, a NumberIn or an IndexIn, and called for its value.
#pragma once

#include "core/kernel.h"

#include PM_LAUNCHERS(scalar_arg)

namespace paddle_mini {

// The tensor's where the program gives one.
template <class T, class Input>
ScalarArg<T> uniform_or(const Input& in, T otherwise) {
  return in ? ScalarArg<T>(in) : ScalarArg<T>(otherwise);
}

}  // namespace paddle_mini
