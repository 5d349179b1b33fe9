// Kernels of table_lookup on a CPU.
#pragma once

namespace paddle_mini {

inline void check_ids(const IndexIn& ids, int64_t height) {
  for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
    int64_t id = ids[i];
    if (id < 0 || id >= height) refuse_id(id, i, height);
  }
}

// A row of a table: the first access misses the caches.
template <class T>
double row_cost(int64_t width) {
  return 20 + bytes_cost(3.0 * sizeof(T)) * static_cast<double>(width);
}

template <class T>
void TableLookupKernel<T>::run(KernelContext& context) {
  check_ids(ids, table.shape()[0]);
  parallel_for(context, {ids.numel(), row_cost<T>(width)}, [&](int64_t begin, int64_t end) {
    constexpr int64_t kAhead = 16;
    T* to = out.data() + begin * width;
    for (int64_t i = begin; i < end; ++i, to += width) {
      if (i + kAhead < end && ids[i + kAhead] != padding) __builtin_prefetch(table.data() + ids[i + kAhead] * width);
      if (ids[i] == padding) std::fill_n(to, width, T(0));
      else std::copy_n(table.data() + ids[i] * width, width, to);
    }
  });
}

template <class T>
void TableLookupGradKernel<T>::run(KernelContext& context) {
  check_ids(ids, height);
  if (sparse) keep_rows(context);
  else sum_rows(context);
}

template <class T>
void TableLookupGradKernel<T>::keep_rows(KernelContext& context) {
  for (size_t i = 0; i < touched.size(); ++i) touched[i] = ids[static_cast<int64_t>(i)];
  table_gradient.variable().set_rows(touched);
  table_gradient.variable().height = height;
  copy_n(context, out_gradient.data(), ids.numel() * width, table_gradient.data());
}

template <class T>
void TableLookupGradKernel<T>::sum_rows(KernelContext& context) {
  fill_n(context, table_gradient.data(), height * width, T(0));
  auto add = [](auto sum, auto g) { return sum + g; };
  // Split by columns, as ids may be equal.
  const double cost = row_cost<T>(width) / static_cast<double>(std::max<int64_t>(width, 1));
  parallel_for(context, {width, cost * static_cast<double>(ids.numel()), 64}, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
      if (ids[i] == padding) continue;
      T* row = table_gradient.data() + ids[i] * width + begin;
      map(context, end - begin, add, row, static_cast<const T*>(row), out_gradient.data() + i * width + begin);
    }
  });
}

}  // namespace paddle_mini
