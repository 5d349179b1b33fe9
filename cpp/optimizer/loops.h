// Loops: the array loops of an update, compiled once per CPU level (loops.cc).
#pragma once

#include "math/average_blocks.h"
#include "optimizer/config.h"

namespace paddle_mini {

// Sums use blocks of this size, as in the operator lamb, and a block that several loops process stays in the L1 cache.
inline constexpr int64_t kBlock = 2048;
inline constexpr int kMostArrays = 3;  // that an optimizer keeps besides the parameter

// The scalars of one update.
template <class T>
struct StepNumbers {
  const Hyper* hyper = nullptr;
  uint64_t update = 0;  // from 1 on
  T rate{}, power1{}, power2{};
  // Lars: parameter and gradient; Dpsgd: gradient; Lamb: accumulated by its steps.
  double squares[2] = {};
  T noise{};               // for Dpsgd
};

// Some elements of a parameter, of the arrays that its optimizer keeps, and of the gradient.
template <class T>
struct Elements {
  int64_t n;
  T* p;
  T* const* state;
  const T* gradient;
};

// The loops of one row of kinds.h, explained in kind.h. finish is nullptr where a row has none.
template <class T>
struct KindLoops {
  using Loop = void (*)(const Elements<T>& elements, StepNumbers<T>& numbers);
  Loop step, measure, finish;
};

template <class T>
struct Loops {
  const KindLoops<T>* kinds;  // by OptimizerKind::index

  // Each writes to `out`: the gradient clipped to [-limit, limit]; times factor; plus rate p; plus rate sign(p).
  void (*clip)(int64_t n, T limit, const T* gradient, T* out);
  void (*scale)(int64_t n, T factor, const T* gradient, T* out);
  void (*add_l2)(int64_t n, T rate, const T* p, const T* gradient, T* out);
  void (*add_l1)(int64_t n, T rate, const T* p, const T* gradient, T* out);

  void (*shrink)(int64_t n, T decay, T* p);                     // p -= decay p
  void (*add_scaled)(int64_t n, T scale, const T* delta, T* p);  // p += scale delta
  // p = sign(p) max(0, kept |p| - taken)
  void (*fade)(int64_t n, T kept, T taken, T* p);
  // A step of a blocked average (math/average_blocks.h) whose Move is not None.
  void (*add_to_block)(int64_t n, T weight, const T* p, T* block);
  void (*end_block)(int64_t n, const BlockStep<T>& step, const T* p, T* average, T* block);
  // The average of a row that has not changed for some updates; and its rounded value at the end of a generation.
  void (*catch_up_row)(int64_t n, double decay, const T* p, T* average, T* block);
  void (*ended_row)(int64_t n, double decay, const T* p, const T* average, const T* block, T* out);

  double (*squares)(int64_t n, T scale, const T* x);  // the sum of (scale x)^2
  bool (*finite)(int64_t n, const T* x);
};

struct LoopTables {
  const char* level;
  Loops<float> of_float;
  Loops<double> of_double;
  void (*exp)(int64_t n, double* x);
};

// The tables of the best level that this CPU runs, or of the one in PM_CPU. Throws DeviceError if that is impossible.
const LoopTables& loops_of_this_cpu();

template <class T>
const Loops<T>& loops() {
  if constexpr (sizeof(T) == 4) return loops_of_this_cpu().of_float;
  else return loops_of_this_cpu().of_double;
}

}  // namespace paddle_mini
