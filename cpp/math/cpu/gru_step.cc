// GruStep: steps of a GRU.
#include "math/cpu/gru_step.h"

#include <algorithm>

#include "math/gemm.h"

namespace paddle_mini {

template <class T>
PackedGemm<T> GruStep<T>::product(int64_t k, int64_t n) const {
  PackedGemm<T> gemm;
  gemm.k = k, gemm.n = n;
  return gemm;
}

template <class T>
int64_t GruStep<T>::packed_size() const {
  int64_t forward = product(size, 2 * size).packed_size(), backward = product(2 * size, size).packed_size();
  return std::max(forward, backward) + product(size, size).packed_size();
}

template <class T>
double GruStep<T>::cost() const {
  return flops_cost(6.0 * static_cast<double>(size) * static_cast<double>(size));
}

template <class T>
void GruStep<T>::pack(const T* weight, T* packed) const {
  PackedGemm<T> gates = product(size, 2 * size);
  gates.pack(weight, 2 * size, false, packed);
  product(size, size).pack(weight + 2 * size * size, size, false, packed + gates.packed_size());
}

template <class T>
void GruStep<T>::run(KernelContext& context, int64_t m, const T* packed, T* gates, const T* last, T* reset,
                     T* hidden) const {
  PackedGemm<T> of_gates = product(size, 2 * size), of_candidate = product(size, size);
  of_gates.run(context, m, last, size, packed, gates, 3 * size, true);
  for (int64_t i = 0; i < m; ++i) {
    T *u = gates + i * 3 * size, *r = u + size;
    auto open = [this](auto a, auto b, auto h) {
      auto passed = gate(b);
      return std::make_tuple(gate(a), passed, passed * h);
    };
    map(context, size, open, std::make_tuple(u, r, reset + i * size), static_cast<const T*>(u),
        static_cast<const T*>(r), last + i * size);
  }
  of_candidate.run(context, m, reset, size, packed + of_gates.packed_size(), gates + 2 * size, 3 * size, true);
  for (int64_t i = 0; i < m; ++i) {
    T *u = gates + i * 3 * size, *c = u + 2 * size;
    auto mix = [this](auto update, auto sum, auto h) {
      auto value = candidate(sum);
      return std::make_tuple(value, update_keeps ? value + update * (h - value) : h + update * (value - h));
    };
    map(context, size, mix, std::make_tuple(c, hidden + i * size), static_cast<const T*>(u), static_cast<const T*>(c),
        last + i * size);
  }
}

template <class T>
void GruStep<T>::pack_gradient(const T* weight, T* packed) const {
  PackedGemm<T> gates = product(2 * size, size);
  gates.pack(weight, 2 * size, true, packed);
  product(size, size).pack(weight + 2 * size * size, size, true, packed + gates.packed_size());
}

template <class T>
void GruStep<T>::run_gradient(KernelContext& context, int64_t m, const T* packed, const T* gates, const T* last,
                              T* gate_gradients, T* to_last, T* to_reset) const {
  PackedGemm<T> of_gates = product(2 * size, size), of_candidate = product(size, size);
  for (int64_t i = 0; i < m; ++i) {
    const T *u = gates + i * 3 * size, *c = u + 2 * size;
    T *to_u = gate_gradients + i * 3 * size, *to_h = to_last + i * size;
    auto split = [this](auto update, auto value, auto h, auto g) {
      using V = decltype(g);
      V to_value = update_keeps ? V(1) - update : update, to_update = update_keeps ? h - value : value - h;
      return std::make_tuple(g * to_update * gate.slope(update), g * to_value * candidate.slope(value),
                             g * (V(1) - to_value));
    };
    map(context, size, split, std::make_tuple(to_u, to_u + 2 * size, to_h), u, c, last + i * size,
        static_cast<const T*>(to_h));
  }
  of_candidate.run(context, m, gate_gradients + 2 * size, 3 * size, packed + of_gates.packed_size(), to_reset, size,
                   false);
  for (int64_t i = 0; i < m; ++i) {
    T *to_r = gate_gradients + i * 3 * size + size, *to_h = to_last + i * size;
    auto through = [this](auto r, auto h, auto g, auto sum) {
      return std::make_tuple(g * h * gate.slope(r), sum + g * r);
    };
    map(context, size, through, std::make_tuple(to_r, to_h), gates + i * 3 * size + size, last + i * size,
        static_cast<const T*>(to_reset + i * size), static_cast<const T*>(to_h));
  }
  of_gates.run(context, m, gate_gradients, 3 * size, packed, to_last, size, true);
}

template <class T>
void GruStep<T>::weight_gradient(KernelContext& context, int64_t rows, const T* gate_gradients, const T* last,
                                 const T* reset, T* to) const {
  GemmSizes<T> of_gates{true, false, size, 2 * size, rows, 0, 3 * size}, of_candidate = of_gates;
  of_candidate.n = size;
  Gemm<T>(of_gates, context.threads).run(context, last, gate_gradients, to);
  Gemm<T>(of_candidate, context.threads).run(context, reset, gate_gradients + 2 * size, to + 2 * size * size);
}

template struct GruStep<float>;
template struct GruStep<double>;

}  // namespace paddle_mini
