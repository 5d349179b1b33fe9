// The kernels of pool2d on a CPU.
#pragma once

#include "math/cpu/pooling2d.h"

namespace paddle_mini {

namespace {

template <class T>
struct Pool2dKernel : Kernel {
  In<T> x;
  Out<T> out;
  Pooling2d pooling;
  bool max;

  explicit Pool2dKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), pooling(init, x.shape()), max(init.attr<std::string>("pooling_type") == "max") {
  }

  void run(KernelContext& context) override {
    constexpr int64_t lanes = Vec<T>::size;
    auto one = [this](int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at) {
      out[at] = max ? largest(plane, row, column) : mean(plane, row, column);
    };
    if (max) {
      pooling.for_each_window(
          context, lanes, [](int64_t, int64_t) {}, one,
          [this](int64_t plane, const auto& row, const auto& column, int64_t at, int64_t) {
            reduce(plane, row, column, Vec<T>(std::numeric_limits<T>::lowest()), [](auto a, auto b) {
              return maximum(a, b);
            }).store(out.data() + at);
          });
    } else {
      pooling.for_each_window(
          context, lanes, [](int64_t, int64_t) {}, one,
          [this](int64_t plane, const auto& row, const auto& column, int64_t at, int64_t) {
            Vec<T> sum = reduce(plane, row, column, Vec<T>(T(0)), [](auto a, auto b) { return a + b; });
            (sum / Vec<T>(static_cast<T>(pooling.count(row, column)))).store(out.data() + at);
          });
    }
  }

  template <class F>
  Vec<T> reduce(int64_t plane, const PooledRange& row, const PooledRange& column, Vec<T> result, F f) const {
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = x.data() + plane + i * pooling.width + column.begin;
      for (int64_t j = 0; j < pooling.taps; ++j) result = f(result, load_apart(line + j, pooling.stride));
    }
    return result;
  }

  T largest(int64_t plane, const PooledRange& row, const PooledRange& column) const {
    T best = std::numeric_limits<T>::lowest();
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = x.data() + plane + i * pooling.width;
      for (int64_t j = column.begin; j < column.end; ++j) best = maximum(best, line[j]);
    }
    return best;
  }

  T mean(int64_t plane, const PooledRange& row, const PooledRange& column) const {
    constexpr int64_t lanes = Vec<T>::size;
    T sum = 0;
    Vec<T> sums(T(0));
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = x.data() + plane + i * pooling.width;
      int64_t j = column.begin;
      for (; j + lanes <= column.end; j += lanes) sums = sums + Vec<T>::load(line + j);
      for (; j < column.end; ++j) sum += line[j];
    }
    if (column.end - column.begin >= lanes) sum += sum_of_lanes(sums);
    return sum / static_cast<T>(pooling.count(row, column));
  }
};

template <class T>
struct Pool2dGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Pooling2d pooling;
  bool max;

  explicit Pool2dGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        pooling(init, x.shape()), max(init.attr<std::string>("pooling_type") == "max") {}

  void run(KernelContext& context) override {
    constexpr int64_t lanes = Vec<T>::size;
    auto clear = [this](int64_t plane, int64_t count) {  // while its lines are in the cache, they are added to
      std::fill_n(x_gradient.data() + plane * pooling.plane_size, count * pooling.plane_size, T(0));
    };
    if (pooling.in_squares) run_in_squares(context);
    else if (max) {
      pooling.for_each_window(
          context, lanes, clear, [this](auto... window) { to_largest(window...); },
          [this](auto... window) { to_largest_of_many(window...); });
    } else {
      pooling.for_each_window(
          context, lanes, clear, [this](auto... window) { to_all(window...); },
          [this](auto... window) { to_all_of_many(window...); });
    }
  }

  // Stores each element once.
  void run_in_squares(KernelContext& context) {
    auto none = [](int64_t, int64_t) {};
    auto one = [this](int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at) {
      T* corner = x_gradient.data() + plane + row.begin * pooling.width + column.begin;
      std::fill_n(corner, 2, T(0));
      std::fill_n(corner + pooling.width, 2, T(0));
      max ? to_largest(plane, row, column, at) : to_all(plane, row, column, at);
    };
    auto many = [this](int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at, int64_t count) {
      Vec<T> left = Vec<T>::load(out_gradient.data() + at);
      const int64_t corner = plane + row.begin * pooling.width + column.begin;
      for (int64_t line : {corner, corner + pooling.width}) {
        T* to = x_gradient.data() + line;
        if (max) {
          const Vec<T> best = Vec<T>::load(out.data() + at), first = take(line, best, left);
          store_pairs(to, first, take(line + 1, best, left), count);
        } else {
          const Vec<T> share = left / Vec<T>(T(4));
          store_pairs(to, share, share, count);
        }
      }
    };
    pooling.for_each_window(context, Vec<T>::size, none, one, many);
  }

  // The gradients that elements of several windows receive, from what is left of those of the windows.
  Vec<T> take(int64_t element, const Vec<T>& best, Vec<T>& left) const {
    const Vec<T> none(T(0)), v = load_apart(x.data() + element, pooling.stride);
    const Vec<T> taken = select(v == v, select(v == best, left, none), left);
    left = select(v == v, select(v == best, none, left), none);
    return taken;
  }

  // The first element that equals the maximum receives the whole gradient.
  void to_largest(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at) {
    for (int64_t i = row.begin; i < row.end; ++i) {
      for (int64_t j = column.begin; j < column.end; ++j) {
        int64_t element = plane + i * pooling.width + j;
        if (x[element] != out[at] && x[element] == x[element]) continue;
        x_gradient[element] += out_gradient[at];
        return;
      }
    }
  }

  void to_largest_of_many(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at, int64_t count) {
    const Vec<T> best = Vec<T>::load(out.data() + at);
    Vec<T> left = first_lanes(Vec<T>::load(out_gradient.data() + at), count);  // not assigned yet
    for (int64_t i = row.begin; i < row.end; ++i) {
      int64_t line = plane + i * pooling.width + column.begin;
      if (pooling.in_pairs()) {
        const Vec<T> first = take(line, best, left);
        add_pairs(x_gradient.data() + line, first, take(line + 1, best, left), count);
      } else {
        for (int64_t j = 0; j < pooling.taps; ++j)
          add_apart(x_gradient.data() + line + j, pooling.stride, take(line + j, best, left));
      }
    }
  }

  void to_all(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at) {
    constexpr int64_t lanes = Vec<T>::size;
    T share = out_gradient[at] / static_cast<T>(pooling.count(row, column));
    for (int64_t i = row.begin; i < row.end; ++i) {
      T* line = x_gradient.data() + plane + i * pooling.width;
      int64_t j = column.begin;
      for (; j + lanes <= column.end; j += lanes) (Vec<T>::load(line + j) + Vec<T>(share)).store(line + j);
      for (; j < column.end; ++j) line[j] += share;
    }
  }

  void to_all_of_many(int64_t plane, const PooledRange& row, const PooledRange& column, int64_t at, int64_t count) {
    Vec<T> gradient = first_lanes(Vec<T>::load(out_gradient.data() + at), count);
    Vec<T> share = gradient / Vec<T>(static_cast<T>(pooling.count(row, column)));
    for (int64_t i = row.begin; i < row.end; ++i) {
      T* line = x_gradient.data() + plane + i * pooling.width + column.begin;
      if (pooling.in_pairs()) add_pairs(line, share, share, count);
      else
        for (int64_t j = 0; j < pooling.taps; ++j) add_apart(line + j, pooling.stride, share);
    }
  }
};

}  // namespace
}  // namespace paddle_mini
