// Kernels of table_lookup on a GPU.
#pragma once

#include "math/copy.h"
#include "math/gpu/ids.h"
#include "math/gpu/lines.h"
#include "math/gpu/order.h"

namespace paddle_mini {

namespace table_lookup_gpu {

template <class T>
struct LookUp {
  IdsBelow ids;
  int64_t padding, width;
  const T* table;
  T* out;

  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, width, 1);
    int64_t id = ids[place.line];
    out[i] = id < 0 || id == padding ? T(0) : table[id * width + place.at];
  }
};

// Over positions sorted by id: the first position of each id sums the gradients of all positions with it, in order.
template <class T>
struct SumRows {
  const KeyAt* order;
  int64_t count, padding, width;
  const T* gradient;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, width, 1);
    int64_t id = order[place.line].key;
    if (id < 0 || id == padding || (place.line > 0 && order[place.line - 1].key == id)) return;
    T total = 0;
    int64_t j = place.line;
    auto value = [&](int64_t k) { return gradient[order[k].at * width + place.at]; };
    // Four are read before the first is added: the keys are sorted, so the fourth one decides for all.
    for (; j + 4 <= count && order[j + 3].key == id; j += 4) {
      T values[4] = {value(j), value(j + 1), value(j + 2), value(j + 3)};
      for (T one : values) total += one;
    }
    for (; j < count && order[j].key == id; ++j) total += value(j);
    to[id * width + place.at] = total;
  }
};

template <class T>
void sum_rows(KernelContext& context, const IdsBelow& ids, int64_t count, int64_t padding, int64_t width,
              const T* gradient, KeyAt* room, T* to) {
  fill_n(context, to, ids.height * width, T(0));
  const KeyAt* order = in_order(context, count, ids, room, room + count);
  for_each_index(context, count * width, SumRows<T>{order, count, padding, width, gradient, to});
}

}  // namespace table_lookup_gpu

template <class T>
void TableLookupKernel<T>::run(KernelContext& context) {
  IdsBelow below(context, ids, table.shape()[0]);
  for_each_index(context, out.numel(), table_lookup_gpu::LookUp<T>{below, padding, width, table.data(), out.data()});
}

template <class T>
void TableLookupGradKernel<T>::run(KernelContext& context) {
  static_assert(sizeof(KeyAt) == 2 * sizeof(int64_t));
  IdsBelow below(context, ids, height);
  table_lookup_gpu::sum_rows(context, below, ids.numel(), padding, width, out_gradient.data(),
                             reinterpret_cast<KeyAt*>(order.data()), table_gradient.data());
}

}  // namespace paddle_mini
