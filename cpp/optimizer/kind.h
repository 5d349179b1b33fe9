// Kind: the base of the rows in kinds.h, and the loops they are written with.
#pragma once

#include "math/map.h"
#include "math/optimizer_steps.h"
#include "math/sum_of.h"
#include "optimizer/fields.h"
#include "optimizer/loops.h"

namespace paddle_mini::kinds {
// Each level of CPU compiles loops of its own, so they have no names outside of their file.
namespace {

struct KindName {
  int number;           // in enum Optimizer of proto/optimizer.proto, and in states
  const char* message;  // the field of OptimizerConfig that has its arguments
};

// The members that a row may leave out. Each row has besides
//   name               a KindName
//   arrays(h)          the number of arrays that it keeps beside the parameter
//   step(elements, x)  one update of some elements
struct Kind {
  // Reads and checks the fields of its message.
  static void read(const Fields&, OptimizerConfig&) {}
  // Whether a step depends on a norm of the whole gradient, or draws a number for all elements: then rows cannot be
  // updated lazily.
  static constexpr bool takes_norms = false;
  // Whether measure(whole, x) comes before the steps of an update, with the gradient as it was prepared.
  static bool measures(const Hyper&) { return false; }
  template <class T>
  static void measure(const Elements<T>&, StepNumbers<T>&) {}
  // Whether finish(elements, x) follows for all elements, after step() for all of them.
  static constexpr bool finishes = false;
  template <class T>
  static void finish(const Elements<T>&, StepNumbers<T>&) {}
};

// The context that loops take; on a CPU it has no state. Not `inline`: GCC would repeat its construction in each step.
[[maybe_unused]] KernelContext& cpu_context() {
  static KernelContext context;
  return context;
}

template <class T, class F, size_t... i>
void update_with(const Elements<T>& e, const F& step, std::index_sequence<i...>) {
  map(cpu_context(), e.n, step, std::tuple(e.p, e.state[i]...), static_cast<const T*>(e.p),
      static_cast<const T*>(e.state[i])..., e.gradient);
}

// Changes the parameter and its first `arrays` arrays by a step of math/optimizer_steps.h.
template <int arrays, class T, class F>
void update(const Elements<T>& e, const F& step) {
  if constexpr (arrays == 0) map(cpu_context(), e.n, step, e.p, static_cast<const T*>(e.p), e.gradient);
  else update_with(e, step, std::make_index_sequence<arrays>());
}

// The sum of (scale x)^2.
template <class T>
double squares(int64_t n, T scale, const T* x) {
  return scale == T(1) ? map_sum(cpu_context(), n, Squared{}, x) : map_sum(cpu_context(), n, ScaledSquare<T>{scale}, x);
}

}  // namespace
}  // namespace paddle_mini::kinds
