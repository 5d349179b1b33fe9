// Averaging in blocks: an average that does not lose digits. Each block of steps accumulates its sum separately, and
// the sum is added to the average at the end of the block.
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/target.h"

namespace paddle_mini {

// In float32, a <- a + w (p - a) loses up to half a digit per step, and a stops changing once w |p - a| is below that.
// So the average is kept as two numbers, a and b, with
//   average = a + (c a + b) / S,
// where S is the sum of all weights v so far, v = w S / (1 - w), and c is minus the sum of the weights v of this block.
// A step is b <- b + v p. It changes a only at the end of the block, after block_length(w) steps or when S has doubled.
// Then a becomes the rounded average, and b keeps the rounding error. Three measures limit b's own rounding errors:
//   - c starts at half of the block's expected sum, so that b runs from -c a to c a and not to twice as much;
//   - at the end of a block S becomes (1 - w) / w, so that weights are about 1, plus an extra of up to a sixteenth that
//     differs per block, so that a constant parameter is rounded differently in each block;
//   - weights below 1/64 are dithered by a millionth, the same for all elements and included in S: the rounding errors
//     of a constant parameter are then as random as those of a changing one (Roberts 1962), and cancel out.
// Larger weights can't be dithered like this, because the dither would show in the average of parameters that jump. If
// the rounding errors of b all have one sign, they add up to m/8 to m/4 digits of p in blocks of m steps, so blocks of
// large weights are short. If b and the sums are zero, the average is a, so a state that was saved without blocks can
// be continued.
constexpr int kBlockSteps = 16, kShortBlockSteps = 4;
constexpr double kWideWeight = 1.0 / 8, kDitheredWeight = 1.0 / 64, kDither = 1.0 / (1 << 20),
                 kGolden = 0.6180339887498949;

// Stored as float64: S, c, the S at which the block ends, steps since the average began.
enum AverageSum { kSum = 0, kShift, kEnd, kBlockCount, kAverageSums };

// Low-discrepancy sequence in [0, 1), indexed by the step (Weyl).
PM_HD inline double place(double step) { return step * kGolden - std::floor(step * kGolden); }

PM_HD inline int block_length(double w) {
  return w < kDitheredWeight ? kBlockSteps : w > kWideWeight ? 1 : kShortBlockSteps;
}

// How a step changes a and b.
enum class Move { None, Begin, Add, EndBlock };

template <class T>
struct BlockStep {
  Move move = Move::None;
  T weight{}, shift{}, sum{}, part{}, scale{},
      next{};  // v; c after it; S after it, 1 / S; of the next block: S over this S, c
  double sums[kAverageSums] = {};                       // after the step
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

// Operates on one element. Each operation is rounded separately, so that every device gives the same bits.
template <class T>
struct AddToBlock {
  T weight;
  template <class V>
  PM_HD V operator()(V block, V param) const {
    return block + V(weight) * param;
  }
};

// Computes the new average and the initial sum of the next block.
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

// The average from a and b, at full precision.
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

// The same for a row of a table that is caught up in one step: average = a + b, moved by the fraction `missing` towards
// p. The rounding error of the sum is computed exactly (Knuth's two-sum).
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
