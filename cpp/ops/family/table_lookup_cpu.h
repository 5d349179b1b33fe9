// Kernels of table_lookup on a CPU.
#pragma once

namespace paddle_mini {

inline void check_ids(const IndexIn& ids, int64_t height) {
  for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
    int64_t id = ids[i];
    if (id < 0 || id >= height) refuse_id(id, i, height);
  }
}

template <class T>
void TableLookupKernel<T>::run(KernelContext&) {
  check_ids(ids, table.shape()[0]);
  T* to = out.data();
  for (int64_t i = 0, n = ids.numel(); i < n; ++i, to += width) {
    if (ids[i] == padding) std::fill_n(to, width, T(0));
    else std::copy_n(table.data() + ids[i] * width, width, to);
  }
}

template <class T>
void TableLookupGradKernel<T>::run(KernelContext& context) {
  check_ids(ids, height);
  if (sparse) keep_rows();
  else sum_rows(context);
}

template <class T>
void TableLookupGradKernel<T>::keep_rows() {
  for (size_t i = 0; i < touched.size(); ++i) touched[i] = ids[static_cast<int64_t>(i)];
  table_gradient.variable().set_rows(touched);
  table_gradient.variable().height = height;
  std::copy_n(out_gradient.data(), ids.numel() * width, table_gradient.data());
}

template <class T>
void TableLookupGradKernel<T>::sum_rows(KernelContext& context) {
  std::fill_n(table_gradient.data(), height * width, T(0));
  auto add = [](auto sum, auto g) { return sum + g; };
  for (int64_t i = 0, n = ids.numel(); i < n; ++i) {
    if (ids[i] == padding) continue;
    T* row = table_gradient.data() + ids[i] * width;
    map(context, width, add, row, static_cast<const T*>(row), out_gradient.data() + i * width);
  }
}

}  // namespace paddle_mini
