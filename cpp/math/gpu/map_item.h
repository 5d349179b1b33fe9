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

  // Calls use(run), where run(begin, end) computes these elements; the scalars are read once.
  template <int packs, class Use>
  PM_DEVICE void bound(const Use& use) const {
    auto g = bind_scalars(f);
    constexpr std::index_sequence_for<Outs...> all_outs;
    constexpr std::index_sequence_for<Ins...> all_ins;
    if constexpr (has_short<decltype(g)>) {
      constexpr size_t out = decltype(g)::short_output;
      if (g.is_short() && stays_in_place(all_outs)) {
        auto only = [&](int64_t at, auto... values) { return g.run_short(at, values...); };
        constexpr std::index_sequence<out> its_out;
        constexpr std::index_sequence<out, sizeof...(Ins) - 1> its_ins;
        return use([&](int64_t begin, int64_t end) { loop<packs>(begin, end, only, its_out, its_ins); });
      }
    }
    auto all = [&](int64_t, auto... values) { return g(values...); };
    use([&](int64_t begin, int64_t end) { loop<packs>(begin, end, all, all_outs, all_ins); });
  }
  template <int packs>
  PM_DEVICE void run(int64_t begin, int64_t end) const {
    bound<packs>([&](const auto& one) { one(begin, end); });
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

  // Stores call(i, its inputs) in these outputs, for all elements. `packs` of each input are read before the first is used.
  template <int packs, class Call, size_t... O, size_t... I>
  PM_DEVICE void loop(int64_t begin, int64_t end, const Call& call, std::index_sequence<O...> o,
                      std::index_sequence<I...> i) const {
    int64_t at = begin + thread_index();
    if (aligned) {
      const int64_t all = (end - begin) / lanes;
      int64_t p = thread_index();
      if constexpr (packs > 1) {
        constexpr std::make_index_sequence<packs> together;
#pragma unroll 1
        for (; p + (packs - 1) * kThreads < all; p += packs * kThreads)
          run_packs(together, begin + p * lanes, call, o, i);
      }
#pragma unroll 1
      for (; p < all; p += kThreads) run_packs(std::index_sequence<0>(), begin + p * lanes, call, o, i);
      at = begin + all * lanes + thread_index();
    }
#pragma unroll 1
    for (; at < end; at += kThreads) {
      store(call(at, std::get<I>(ins)[at]...), std::make_index_sequence<sizeof...(O)>(), std::get<O>(outs)[at]...);
    }
  }

  template <size_t... K, class Call, size_t... O, size_t... I>
  PM_DEVICE void run_packs(std::index_sequence<K...>, int64_t begin, const Call& call, std::index_sequence<O...>,
                           std::index_sequence<I...>) const {
    constexpr int64_t kApart = kThreads * lanes;
    constexpr std::make_index_sequence<sizeof...(O)> numbers;
    auto read = [&](int64_t at) {
      (void)at;  // without inputs
      return std::make_tuple(load<lanes>(std::get<I>(ins) + at)...);
    };
    const decltype(read(0)) from[] = {read(begin + static_cast<int64_t>(K) * kApart)...};
#pragma unroll
    for (int k = 0; k < static_cast<int>(sizeof...(K)); ++k) {
      const int64_t at = begin + k * kApart;
      std::tuple<Pack<std::tuple_element_t<O, std::tuple<Outs...>>, lanes>...> to;
#pragma unroll
      for (int lane = 0; lane < lanes; ++lane) {
        auto values = std::apply([&](const auto&... in) { return call(at + lane, in.at[lane]...); }, from[k]);
        std::apply([&](auto&... out) { store(values, numbers, out.at[lane]...); }, to);
      }
      std::apply([&](const auto&... out) { (out.store(std::get<O>(outs) + at), ...); }, to);
    }
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

  template <int packs>
  PM_DEVICE void run(int64_t begin, int64_t end) const {
    first.template bound<packs>([&](const auto& one) {
      if (second.n == 0) return one(begin, end);
      second.template bound<packs>([&](const auto& other) {
        constexpr int64_t kPart = kThreads * lanes * packs;
        for (int64_t at = begin; at < end; at += kPart) {
          const int64_t stop = at + kPart < end ? at + kPart : end;
          one(at, stop);
          other(at, stop);
        }
      });
    });
  }
};

// Several maps as one sequence of chunks.
template <class Item, int most, int packs>
struct Body {
  static constexpr int64_t kChunk = kThreads * Item::lanes * packs;

  Item items[most];
  int64_t ends[most];  // by map: index after its last chunk
  int count;

  PM_DEVICE void operator()() const {
    for (int64_t number = block_index(); number < ends[count - 1]; number += block_count()) {
      int low = 0, high = count - 1;
      while (low < high) {
        int middle = (low + high) / 2;
        if (number < ends[middle]) high = middle;
        else low = middle + 1;
      }
      const Item& item = items[low];
      int64_t begin = (number - (low ? ends[low - 1] : 0)) * kChunk;
      item.template run<packs>(begin, begin + kChunk < item.n ? begin + kChunk : item.n);
    }
  }
};

}  // namespace map_gpu

}  // namespace paddle_mini
