// The kernels of trace on a GPU.
#pragma once

namespace paddle_mini {
namespace {

struct TraceElement {
  template <class T>
  struct Get {
    const T* from;
    PM_DEVICE T operator()(const int64_t (&at)[1]) const { return from[at[0]]; }
  };
  template <class T>
  struct Put {
    T* to;
    template <class A>
    PM_DEVICE void operator()(int64_t o, A sum) const {
      to[o] = static_cast<T>(sum);
    }
  };
  template <class T>
  struct Spread {
    StridedIndex<1> matrices;
    int64_t count, step;
    const T* from;
    T* to;
    PM_DEVICE void operator()(int64_t i) const {
      int64_t at[1] = {i % count * step};
      matrices.move(i / count, at);
      to[at[0]] = from[i / count];
    }
  };
};

// Maps the index of a matrix to its offset.
StridedIndex<1> matrices_of(const Diagonals& d, const Shape& x) {
  StridedIndex<1> index_map;
  for (int i = x.rank() - 1; i >= 0; --i) {
    if (i != d.axis1 && i != d.axis2) index_map.add(x[i], {x.numel(i + 1, x.rank())});
  }
  return index_map;
}

template <class T>
void TraceKernel<T>::run(KernelContext& context) {
  StridedIndex<1> along;
  along.add(d.count, {d.step});
  fold(context, matrices_of(d, x.shape()), along, SumOf<T>(0), TraceElement::Get<T>{x.data() + d.first}, Plus{},
       TraceElement::Put<T>{out.data()});
}

template <class T>
void TraceGradKernel<T>::run(KernelContext& context) {
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  StridedIndex<1> matrices = matrices_of(d, x_gradient.shape());
  TraceElement::Spread<T> spread{matrices, d.count, d.step, out_gradient.data(), x_gradient.data() + d.first};
  for_each_index(context, matrices.count * d.count, spread);
}

}  // namespace
}  // namespace paddle_mini
