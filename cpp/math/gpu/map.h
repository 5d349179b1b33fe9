// map on a GPU: blocks process chunks of the arrays with loads of 16 bytes if all arrays are so aligned. Maps of one
// kind that are pending in a batch become one launch over all their arrays.
#pragma once

#include <tuple>
#include <utility>
#include <vector>

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

template <class>
inline constexpr bool is_tuple = false;
template <class... V>
inline constexpr bool is_tuple<std::tuple<V...>> = true;

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

  template <class G, size_t... O, class... V>
  PM_DEVICE static void store(const G& values, std::index_sequence<O...>, V&... to) {
    if constexpr (is_tuple<G>) ((to = std::get<O>(values)), ...);
    else ((to = values), ...);
  }

  template <size_t... O, size_t... I>
  PM_DEVICE void run(int64_t begin, int64_t end, std::index_sequence<O...> o, std::index_sequence<I...>) const {
    auto g = bind_scalars(f);
    int64_t i = begin + thread_index();
    if (aligned) {
      int64_t packs = (end - begin) / lanes;
#pragma unroll 1
      for (int64_t p = thread_index(); p < packs; p += kThreads) {
        int64_t at = begin + p * lanes;
        [[maybe_unused]] std::tuple<Pack<Ins, lanes>...> from(Pack<Ins, lanes>::load(std::get<I>(ins) + at)...);
        std::tuple<Pack<Outs, lanes>...> to;
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
          store(g(std::get<I>(from).at[lane]...), o, std::get<O>(to).at[lane]...);
        }
        (std::get<O>(to).store(std::get<O>(outs) + at), ...);
      }
      i = begin + packs * lanes + thread_index();
    }
#pragma unroll 1
    for (; i < end; i += kThreads) store(g(std::get<I>(ins)[i]...), o, std::get<O>(outs)[i]...);
  }
  PM_DEVICE void run(int64_t begin, int64_t end) const {
    run(begin, end, std::index_sequence_for<Outs...>{}, std::index_sequence_for<Ins...>{});
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

// A kernel's arguments may have at most 32,764 bytes (CUDA 12.1 and sm_70 or later).
template <class Item>
inline constexpr int kTogether = static_cast<int>(32000 / (sizeof(Item) + sizeof(int64_t)));

template <class Item>
class WaitingMaps : public PendingLaunches {
 public:
  static const void* kind_of() {
    static const char kind = 0;
    return &kind;
  }
  const void* kind() const override { return kind_of(); }
  void add(const Item& item) { items_.push_back(item); }

  void launch(KernelContext& context) override {
    using All = Body<Item, kTogether<Item>>;
    for (size_t from = 0; from < items_.size(); from += kTogether<Item>) {
      size_t count = std::min(items_.size() - from, static_cast<size_t>(kTogether<Item>));
      alignas(All) unsigned char memory[sizeof(All)];  // only the `count` items are initialised
      All* all = reinterpret_cast<All*>(memory);
      int64_t end = 0;
      for (size_t i = 0; i < count; ++i) {
        new (&all->items[i]) Item(items_[from + i]);
        all->ends[i] = end += (all->items[i].n + All::kChunk - 1) / All::kChunk;
      }
      all->count = static_cast<int>(count);
      launch_now(context, std::min(end, kMostBlocks), *all);
    }
  }

 private:
  std::vector<Item> items_;
};

// Functors of optimizers and averages have `static constexpr bool batchable = true`; others need no second kernel.
template <class F, class = void>
inline constexpr bool batchable = false;
template <class F>
inline constexpr bool batchable<F, std::void_t<decltype(F::batchable)>> = F::batchable;

template <class Item, class F>
void run(KernelContext& context, const Item& item, const F&) {
  if (item.n <= 0) return;
  if constexpr (batchable<F>) {
    if (context.in_batch) {
      using Maps = WaitingMaps<Item>;
      auto same = [](const std::unique_ptr<PendingLaunches>& one) { return one->kind() == Maps::kind_of(); };
      auto found = std::find_if(context.pending.begin(), context.pending.end(), same);
      if (found == context.pending.end()) found = context.pending.insert(found, std::make_unique<Maps>());
      static_cast<Maps&>(**found).add(item);
      return;
    }
  }
  using One = Body<Item, 1>;
  int64_t chunks = (item.n + One::kChunk - 1) / One::kChunk;
  launch(context, std::min(chunks, kMostBlocks), One{{item}, {chunks}, 1});
}

}  // namespace map_gpu

// out[i] = f(in[i]...). Outputs may be the same arrays as inputs.
template <class T, class F, class... Inputs>
void map(KernelContext& context, int64_t n, F f, T* out, const Inputs*... in) {
  using Item = map_gpu::Item<F, std::tuple<T*>, std::tuple<const Inputs*...>>;
  map_gpu::run(context, Item(f, std::tuple<T*>(out), std::tuple<const Inputs*...>(in...), n), f);
}

// The same with several outputs: f returns a std::tuple with one value for each output.
template <class T, class F, class... Outputs, class... Inputs>
void map(KernelContext& context, int64_t n, F f, std::tuple<Outputs*...> out, const T* first, const Inputs*... in) {
  using Item = map_gpu::Item<F, std::tuple<Outputs*...>, std::tuple<const T*, const Inputs*...>>;
  map_gpu::run(context, Item(f, out, std::tuple<const T*, const Inputs*...>(first, in...), n), f);
}

}  // namespace paddle_mini
