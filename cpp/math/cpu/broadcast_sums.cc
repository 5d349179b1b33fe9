// Gradients of operands that are broadcast: sums of the elements of the result that use one of theirs.
#include "math/arithmetic.h"
#include "math/broadcast.h"
#include "math/complex.h"

namespace paddle_mini {
namespace {

// Elements of a row whose gradients are in the L1 cache until they are added.
template <class C>
constexpr int64_t block_size() {
  if constexpr (has_vec<C>) return map_loop::sum_block<C>;
  else return 512;
}

template <class C>
auto sum_of(const C* values, int64_t count) {
  if constexpr (has_vec<C>) {
    return map_loop::sum(count, Itself{}, values);
  } else {
    C total = C(0);
    for (int64_t i = 0; i < count; ++i) total += values[i];
    return total;
  }
}

// The sum of compute(begin, end, buffer) over blocks of [0, count).
template <class C, class Compute>
C total_of(KernelContext& context, int64_t count, Compute compute) {
  constexpr int64_t kBlock = block_size<C>();
  auto sum_of_block = [&](int64_t i) {
    C buffer[kBlock];
    const int64_t begin = i * kBlock, end = std::min(begin + kBlock, count);
    return sum_of(compute(begin, end, buffer), end - begin);
  };
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  if (blocks == 1) return static_cast<C>(sum_of_block(0));
  if constexpr (has_vec<C>) {
    return static_cast<C>(sum_in_order(context, {blocks, bytes_cost(4.0 * sizeof(C)) * kBlock}, sum_of_block));
  } else {
    C total = C(0);
    for (int64_t i = 0; i < blocks; ++i) total += sum_of_block(i);
    return total;
  }
}

}  // namespace

template <class C>
void Broadcast::add_parts(KernelContext& context, bool to_x, const PartGradient<C>& gradient, C* to) const {
  constexpr int64_t kBlock = block_size<C>();
  const bool by_column = to_x ? inner_.x_step != 0 : inner_.y_step != 0;
  const double cost = bytes_cost(3.0 * sizeof(C)) * static_cast<double>(inner_.size);
  fill_n(context, to, to_x ? x_numel_ : y_numel_, C(0));
  add_rows(context, outer_, to_x ? 0 : 1, by_column, inner_.size, cost,
           [&](int64_t row, const std::array<int64_t, 2>& at, int64_t first, int64_t last) {
             C* target = to + at[to_x ? 0 : 1];
             auto compute = [&](int64_t begin, int64_t end, C* buffer) {
               const Part part{end - begin, at[0] + begin * inner_.x_step, at[1] + begin * inner_.y_step,
                               row * inner_.size + begin};
               return gradient.compute(gradient.loop, part, buffer);
             };
             if (!by_column) {
               target[0] += total_of<C>(context, last, compute);
               return;
             }
             C buffer[kBlock];
             for (int64_t begin = first; begin < last; begin += kBlock) {
               const int64_t end = std::min(begin + kBlock, last);
               const C* values = compute(begin, end, buffer);
               map_loop::run(end - begin, Plus{}, target + begin, static_cast<const C*>(target + begin), values);
             }
           });
}

template void Broadcast::add_parts(KernelContext&, bool, const PartGradient<float>&, float*) const;
template void Broadcast::add_parts(KernelContext&, bool, const PartGradient<double>&, double*) const;
template void Broadcast::add_parts(KernelContext&, bool, const PartGradient<Complex<float>>&, Complex<float>*) const;
template void Broadcast::add_parts(KernelContext&, bool, const PartGradient<Complex<double>>&, Complex<double>*) const;

}  // namespace paddle_mini
