// Element-wise maps as they run in a kernel: one, two over the same elements, or many one after the other. Blocks process chunks
// of the arrays, with loads of 16 bytes if all arrays are so aligned.
#pragma once

#include <tuple>
#include <utility>

#include "cuda/launch.h"
#include "math/bind_scalars.h"

namespace paddle_mini {

namespace map_gpu {

template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  T at[n];

  PM_DEVICE static Pack load(const T* from) { return *reinterpret_cast<const Pack*>(from); }
  PM_DEVICE void store(T* to) const {
#ifdef __CUDACC__
    if constexpr (sizeof(Pack) == 16) {  // otherwise nvcc splits it into stores of single elements
      uint4 whole;
      memcpy(&whole, this, sizeof whole);
      __stwb(reinterpret_cast<uint4*>(to), whole);
      return;
    }
#endif
    *reinterpret_cast<Pack*>(to) = *this;
  }
};

template <int n, class T>
PM_DEVICE Pack<T, n> load(const T* from) {
  return Pack<T, n>::load(from);
}
template <int n, class T>
PM_DEVICE Pack<T, n> empty(T*) {
  return {};
}

template <class>
inline constexpr bool is_tuple = false;
template <class... V>
inline constexpr bool is_tuple<std::tuple<V...>> = true;

// A bound functor with is_short(), the same for all elements, and then needs only the output `short_output` and the last input,
// and gives it by run_short(index, old value, last input). The other outputs keep their values, which are inputs too.
template <class G, class = void>
inline constexpr bool has_short = false;
template <class G>
inline constexpr bool has_short<G, std::void_t<decltype(G::short_output)>> = true;

// One map: out[i] = f(in[i]...) for n elements.
template <class F, class Outs, class Ins>
struct Item;
template <class F, class... Outs, class... Ins>
struct Item<F, std::tuple<Outs*...>, std::tuple<const Ins*...>> {
  static constexpr size_t most(std::initializer_list<size_t> sizes) {
    size_t result = 1;
    for (size_t size : sizes) result = size > result ? size : result;
    return result;
  }
  static constexpr int lanes = static_cast<int>(16 / most({sizeof(Outs)..., sizeof(Ins)...}));

  F f;
  std::tuple<Outs*...> outs;
  std::tuple<const Ins*...> ins;
  int64_t n;
  bool aligned;

  Item(F f, std::tuple<Outs*...> outs, std::tuple<const Ins*...> ins, int64_t n) : f(f), outs(outs), ins(ins), n(n) {
    auto fits = [](auto*... p) { return (... && (reinterpret_cast<uintptr_t>(p) % (sizeof(*p) * lanes) == 0)); };
    aligned = std::apply(fits, outs) && std::apply(fits, ins);
  }

  PM_DEVICE void run(int64_t begin, int64_t end) const {
    auto g = bind_scalars(f);
    constexpr std::index_sequence_for<Outs...> all_outs;
    constexpr std::index_sequence_for<Ins...> all_ins;
    if constexpr (has_short<decltype(g)>) {
      constexpr size_t out = decltype(g)::short_output;
      if (g.is_short() && stays_in_place(std::index_sequence_for<Outs...>())) {
        auto only = [&](int64_t at, auto... values) { return g.run_short(at, values...); };
        return loop(begin, end, only, std::index_sequence<out>(), std::index_sequence<out, sizeof...(Ins) - 1>());
      }
    }
    loop(begin, end, [&](int64_t, auto... values) { return g(values...); }, all_outs, all_ins);
  }

 private:
  // Whether each output is also the input of its index.
  template <size_t... O>
  PM_DEVICE bool stays_in_place(std::index_sequence<O...>) const {
    return (... && (static_cast<const void*>(std::get<O>(outs)) == std::get<O>(ins)));
  }

  template <class V, size_t... O, class... To>
  PM_DEVICE static void store(const V& values, std::index_sequence<O...>, To&... to) {
    if constexpr (is_tuple<V>) ((to = std::get<O>(values)), ...);
    else ((to = values), ...);
  }

  // Stores call(i, its inputs) in these outputs, for all elements.
  template <class Call, size_t... O, size_t... I>
  PM_DEVICE void loop(int64_t begin, int64_t end, const Call& call, std::index_sequence<O...>,
                      std::index_sequence<I...>) const {
    constexpr std::make_index_sequence<sizeof...(O)> numbers;
    int64_t i = begin + thread_index();
    if (aligned) {
      int64_t packs = (end - begin) / lanes;
#pragma unroll 1
      for (int64_t p = thread_index(); p < packs; p += kThreads) {
        int64_t at = begin + p * lanes;
        [[maybe_unused]] auto from = std::make_tuple(load<lanes>(std::get<I>(ins) + at)...);
        auto to = std::make_tuple(empty<lanes>(std::get<O>(outs))...);
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
          auto values = std::apply([&](const auto&... in) { return call(at + lane, in.at[lane]...); }, from);
          std::apply([&](auto&... out) { store(values, numbers, out.at[lane]...); }, to);
        }
        std::apply([&](const auto&... out) { (out.store(std::get<O>(outs) + at), ...); }, to);
      }
      i = begin + packs * lanes + thread_index();
    }
#pragma unroll 1
    for (; i < end; i += kThreads) store(call(i, std::get<I>(ins)[i]...), numbers, std::get<O>(outs)[i]...);
  }
};

// Two maps over the same elements, the second of which may read what the first writes. A thread runs both for the same
// elements, so the second finds them in the cache. Without a second map, its n is 0.
template <class First, class Second>
struct Both {
  static_assert(First::lanes == Second::lanes);
  static constexpr int lanes = First::lanes;

  First first;
  Second second;
  int64_t n;

  PM_DEVICE void run(int64_t begin, int64_t end) const {
    first.run(begin, end);
    if (second.n > 0) second.run(begin, end);
  }
};

// Several maps as one sequence of chunks.
template <class Item, int most>
struct Body {
  static constexpr int64_t kChunk = kThreads * Item::lanes * (most == 1 ? 1 : 4);

  Item items[most];
  int64_t ends[most];  // by map: index after its last chunk
  int count;

  PM_DEVICE void operator()() const {
    for (int64_t chunk = block_index(); chunk < ends[count - 1]; chunk += block_count()) {
      int low = 0, high = count - 1;
      while (low < high) {
        int middle = (low + high) / 2;
        if (chunk < ends[middle]) high = middle;
        else low = middle + 1;
      }
      const Item& item = items[low];
      int64_t begin = (chunk - (low ? ends[low - 1] : 0)) * kChunk;
      item.run(begin, begin + kChunk < item.n ? begin + kChunk : item.n);
    }
  }
};

}  // namespace map_gpu

}  // namespace paddle_mini
