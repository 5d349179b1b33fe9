// An average that keeps its digits: what a block of steps adds up apart, and when it is moved into the average.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/target.h"

namespace paddle_mini {

// a <- a + w (p - a) in float32 loses up to half a digit a step, and stands still where w |p - a| is less than that.
// So the average is kept as two numbers, a and b, with
//   average = a + (c a + b) / S,
// where S is the sum of all weights v so far, v = w S / (1 - w), and c is minus the sum of the weights v of this block.
// A step is b <- b + v p; it touches a only where the block ends, after block_length(w) steps or when S has doubled.
// There a becomes the average, rounded, and b keeps what rounding left. Three things hold b's own rounding down:
//   - c begins at half of what the block will add up, so that b runs from -c a to c a and not to twice as much;
//   - S becomes (1 - w) / w there, so that weights are about 1, and a little more, another part of a sixteenth each time,
//     so that roundings of a parameter that stands still are others in each block;
//   - weights below 1/64 are dithered by a millionth, one for all elements, which S counts: the roundings of a
//     parameter that stands still are then as random as those of one that moves (Roberts 1962), and cancel out.
// Larger weights cannot be dithered so, since that would show in the average of parameters that jump. The roundings of
// b, if all have one sign, add up to m/8 to m/4 digits of p in blocks of m steps, so their blocks are short.
// With zeros for b and the sums the average is a, so the state of an average that was kept without blocks can go on.
constexpr int kBlockSteps = 16, kShortBlockSteps = 4;
constexpr double kWideWeight = 1.0 / 8, kDitheredWeight = 1.0 / 64, kDither = 1.0 / (1 << 20),
                 kGolden = 0.6180339887498949;

// Kept as float64: S, c, the S at which the block ends, steps since the average began.
enum AverageSum { kSum = 0, kShift, kEnd, kBlockCount, kAverageSums };

// Another place between 0 and 1 for each step, evenly (Weyl).
PM_HD inline double place(double step) { return step * kGolden - std::floor(step * kGolden); }

PM_HD inline int block_length(double w) {
  return w < kDitheredWeight ? kBlockSteps : w > kWideWeight ? 1 : kShortBlockSteps;
}

// What a step does to a and b.
enum class Move { None, Begin, Add, EndBlock };

template <class T>
struct BlockStep {
  Move move = Move::None;
  T weight{}, shift{}, sum{}, part{}, scale{},
      next{};  // v; c after it; S after it, 1 / S; of the next block: S over this S, c
  double sums[kAverageSums] = {};                       // afterwards
};

// The step that gives the newest parameters the weight w.
template <class T>
PM_HD BlockStep<T> block_step(const double* sums, double w) {
  BlockStep<T> step;
  for (int i = 0; i < kAverageSums; ++i) step.sums[i] = sums[i];
  if (!(w > 0)) return step;
  if (w >= 1) {
    step.move = Move::Begin;
    step.sums[kSum] = 1;
    step.sums[kShift] = 0;
    step.sums[kEnd] = 2;
    step.sums[kBlockCount] = 0;
    return step;
  }
  double before = sums[kSum], end = sums[kEnd], steps = sums[kBlockCount] + 1;
  if (!(before > 0)) {
    before = (1 - w) / w;
    end = 2 * before;
  }
  double v = w / (1 - w) * before;
  int length = block_length(w);
  if (w < kDitheredWeight && sizeof(T) == sizeof(float)) { v *= 1 + (place(steps) - 0.5) * kDither; }
  step.weight = static_cast<T>(v);
  v = static_cast<double>(step.weight);
  double sum = before + v, shift = sums[kShift] - v;
  bool ends = sum >= end || std::fmod(steps, length) == 0;
  step.move = ends ? Move::EndBlock : Move::Add;
  step.sums[kSum] = sum;
  step.sums[kShift] = shift;
  step.sums[kEnd] = end;
  step.sums[kBlockCount] = steps;
  if (!ends) return step;
  step.shift = static_cast<T>(shift);
  step.sum = static_cast<T>(sum);
  step.part = static_cast<T>(1 / sum);
  double more = length == 1 ? 0 : place(steps) / 16, whole = (1 - w) / w * (1 + more);
  double coming = std::min(whole * std::expm1(-length * std::log1p(-w)), whole);
  step.scale = static_cast<T>(whole / sum);
  step.next = length == 1 ? T(0) : static_cast<T>(coming / 2);
  step.sums[kSum] = whole;
  step.sums[kShift] = static_cast<double>(step.next);
  step.sums[kEnd] = 2 * whole;
  return step;
}

// On one element; each operation is rounded by itself, so that every device gives the same bits.
template <class T>
struct AddToBlock {
  T weight;
  template <class V>
  PM_HD V operator()(V block, V param) const {
    return block + V(weight) * param;
  }
};

// The new average and what the next block begins with.
template <class T>
struct EndBlock {
  T weight, shift, sum, part, scale, next;
  explicit PM_HD EndBlock(const BlockStep<T>& step)
      : weight(step.weight), shift(step.shift), sum(step.sum), part(step.part), scale(step.scale), next(step.next) {}
  template <class V>
  PM_HD std::tuple<V, V> operator()(V average, V block, V param) const {
    V apart = V(shift) * average + (block + V(weight) * param);
    V moved = average + apart * V(part);
    V left = V(sum) * (average - moved) + apart;
    return {moved, left * V(scale) - V(next) * moved};
  }
};

// The average of a and b, as precise as it is known.
template <class T>
struct BlockMean {
  double shift, part;
  PM_HD BlockMean(double shift, double part) : shift(shift), part(part) {}
  explicit PM_HD BlockMean(const double* sums) : shift(sums[kShift]), part(sums[kSum] > 0 ? 1 / sums[kSum] : 1.0) {}
  PM_HD double operator()(T average, T block) const {
    double a = static_cast<double>(average);
    return a + (shift * a + static_cast<double>(block)) * part;
  }
};

// The same for a row of a table, which is caught up at once: average = a + b, `missing` of the way to p. What rounding
// leaves out of the sum is exact (Knuth).
template <class T>
struct CatchUp {
  T missing;
  template <class V>
  PM_HD std::tuple<V, V> operator()(V average, V rest, V param) const {
    V step = rest + V(missing) * ((param - average) - rest), moved = average + step, back = moved - average;
    V left = (average - (moved - back)) + (step - back);
    if constexpr (kOnGpu) {
      return {moved, left};
    } else {
      auto is_finite = param - param == V(T(0));
      return {select(is_finite, moved, average), select(is_finite, left, rest)};
    }
  }
};

}  // namespace paddle_mini
