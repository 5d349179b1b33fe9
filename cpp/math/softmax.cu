// Softmax on a GPU: some threads of a block share a row, or a column where the axis is not the last.
#include "math/softmax.h"

#include <limits>

#include "math/fold_gpu.h"
#include "math/number.h"

namespace paddle_mini {
namespace {

struct Larger {
  template <class T>
  PM_DEVICE T operator()(T a, T b) const { return maximum(a, b); }
};

template <class T>
struct Lines {
  static constexpr bool syncs = true;
  int64_t count, size, inner;  // lines, their length, the distance of their elements
  fold_gpu::Shares shares;

  // f(base, first element, whether there is such a line) for the line of each thread.
  template <class F>
  PM_DEVICE void each(F f) const {
    int t = thread_index(), results = kThreads / shares.lanes;
    int lane = shares.along_fold ? t % shares.lanes : t / results;
    int mine = shares.along_fold ? t / shares.lanes : t % results;
    for (int64_t block = block_index(); block < (count + results - 1) / results; block += block_count()) {
      int64_t line = block * results + mine;
      f(line / inner * size * inner + line % inner, lane, mine, line < count ? size : 0);
    }
  }
  int64_t blocks() const { return std::min((count + shares.results() - 1) / shares.results(), kMostBlocks); }
};

template <class T>
struct Forward : Lines<T> {
  const T* x;
  T* out;

  PM_DEVICE void operator()() const {
    PM_SHARED T tops[kThreads];
    PM_SHARED double sums[kThreads];
    int lanes = this->shares.lanes, results = kThreads / lanes;
    this->each([&](int64_t base, int lane, int mine, int64_t size) {
      T top = -std::numeric_limits<T>::infinity();
      for (int64_t i = lane; i < size; i += lanes) top = maximum(top, x[base + i * this->inner]);
      top = fold_gpu::fold_lanes(tops, lanes, results, lane, mine, top, Larger{});
      double sum = 0;
      for (int64_t i = lane; i < size; i += lanes) {
        T power = exp(x[base + i * this->inner] - top);
        out[base + i * this->inner] = power;
        sum += power;
      }
      T factor = static_cast<T>(1 / fold_gpu::fold_lanes(sums, lanes, results, lane, mine, sum, Plus{}));
      for (int64_t i = lane; i < size; i += lanes) out[base + i * this->inner] *= factor;
    });
  }
};

template <class T>
struct Backward : Lines<T> {
  const T *out, *gradient;
  T* x_gradient;

  PM_DEVICE void operator()() const {
    PM_SHARED double sums[kThreads];
    int lanes = this->shares.lanes, results = kThreads / lanes;
    this->each([&](int64_t base, int lane, int mine, int64_t size) {
      double sum = 0;
      for (int64_t i = lane; i < size; i += lanes) {
        sum += out[base + i * this->inner] * gradient[base + i * this->inner];
      }
      T dot = static_cast<T>(fold_gpu::fold_lanes(sums, lanes, results, lane, mine, sum, Plus{}));
      for (int64_t i = lane; i < size; i += lanes) {
        int64_t at = base + i * this->inner;
        x_gradient[at] = out[at] * (gradient[at] - dot);
      }
    });
  }
};

template <class T>
Lines<T> lines(int64_t outer, int64_t size, int64_t inner) {
  fold_gpu::Shares shares = fold_gpu::shares(outer * inner, size, inner == 1, kWorkspace);
  return {outer * inner, size, inner, shares};
}

}  // namespace

template <class T>
void Softmax::run(Device& device, const T* x, T* out, T*) const {
  if (size_ == 0) return;
  Forward<T> body{lines<T>(outer_, size_, inner_), x, out};
  launch(device, body.blocks(), body);
}

template <class T>
void Softmax::gradient(Device& device, const T* out, const T* gradient, T* x_gradient, T*) const {
  if (size_ == 0) return;
  Backward<T> body{lines<T>(outer_, size_, inner_), out, gradient, x_gradient};
  launch(device, body.blocks(), body);
}

template void Softmax::run<float>(Device&, const float*, float*, float*) const;
template void Softmax::run<double>(Device&, const double*, double*, double*) const;
template void Softmax::gradient<float>(Device&, const float*, const float*, float*, float*) const;
template void Softmax::gradient<double>(Device&, const double*, const double*, double*, double*) const;

}  // namespace paddle_mini
