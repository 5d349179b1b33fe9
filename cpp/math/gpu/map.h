// map on a GPU. Maps of one kind that are pending in a batch become one launch over all their arrays, and averages of
// parameters join the maps that update these.
#pragma once

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "math/gpu/block_average_step.h"
#include "math/gpu/map_item.h"

namespace paddle_mini {

namespace map_gpu {

// A kernel's arguments may have at most 32,764 bytes (CUDA 12.1 and sm_70 or later). Launches with few are faster.
template <class Item>
inline constexpr int kTogether = static_cast<int>(32000 / (sizeof(Item) + sizeof(int64_t)));
inline constexpr int kFew = 16;
// Loads of 16 bytes of each input that a thread has in flight. An update with its average needs four to move 3.9 TB/s on an H200,
// with one it moves 3.2; larger chunks than that are slower, because neighbouring blocks then read places far apart.
inline constexpr int kPacks = 4;

template <int most, class Item>
void launch_together(KernelContext& context, const Item* items, size_t count) {
  using All = Body<Item, most, kPacks>;
  alignas(All) unsigned char memory[sizeof(All)];  // only the `count` items are initialised
  All* all = reinterpret_cast<All*>(memory);
  int64_t end = 0;
  for (size_t i = 0; i < count; ++i) {
    new (&all->items[i]) Item(items[i]);
    all->ends[i] = end += (items[i].n + All::kChunk - 1) / All::kChunk;
  }
  all->count = static_cast<int>(count);
  launch_now(context, std::min(end, kMostFreeBlocks), *all);
}

// Launches as many together as fit.
template <class Item>
void launch_all(KernelContext& context, const std::vector<Item>& items) {
  for (size_t from = 0; from < items.size(); from += kTogether<Item>) {
    size_t count = std::min(items.size() - from, static_cast<size_t>(kTogether<Item>));
    if (count <= kFew) launch_together<kFew>(context, &items[from], count);
    else launch_together<kTogether<Item>>(context, &items[from], count);
  }
}

template <class Item>
class WaitingMaps : public PendingLaunches {
 public:
  static const void* kind_of() {
    static const char kind = 0;
    return &kind;
  }
  const void* kind() const override { return kind_of(); }
  void add(const Item& item) { items_.push_back(item); }
  void launch(KernelContext& context) override { launch_all(context, items_); }

 protected:
  std::vector<Item> items_;
};

// Maps that update parameters, with those that average what they have written.
class JoinedMaps : public PendingLaunches {
 public:
  // Takes over an average of a parameter that is updated here. Returns false if it has one already, or can't join.
  virtual bool join(const void* parameter, const void* average_kind, const void* average) = 0;
};

template <class Item, class Average>
class UpdatingMaps : public JoinedMaps {
 public:
  const void* kind() const override { return WaitingMaps<Item>::kind_of(); }
  void add(const Item& item) { items_.push_back(item); }

  bool join(const void* parameter, const void* average_kind, const void* average) override {
    if (average_kind != WaitingMaps<Average>::kind_of()) return false;
    const auto& joining = *static_cast<const Average*>(average);
    averages_.resize(items_.size());
    for (size_t i = 0; i < items_.size(); ++i) {
      if (std::get<0>(items_[i].outs) != parameter || items_[i].n != joining.n || averages_[i]) continue;
      averages_[i] = std::make_unique<Average>(joining);
      return true;
    }
    return false;
  }

  void launch(KernelContext& context) override {
    if (averages_.empty()) return launch_all(context, items_);
    averages_.resize(items_.size());
    std::vector<Both<Item, Average>> both;
    std::vector<Item> alone;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (averages_[i]) both.push_back({items_[i], *averages_[i], items_[i].n});
      else alone.push_back(items_[i]);
    }
    launch_all(context, both);
    launch_all(context, alone);
  }

 private:
  std::vector<Item> items_;
  std::vector<std::unique_ptr<Average>> averages_;  // by item; shorter if the last ones have none
};

// Declarations of functors. Those of optimizers and averages can wait in a batch; others need no second kernel.
template <class F, class = void>
inline constexpr bool batchable = false;
template <class F>
inline constexpr bool batchable<F, std::void_t<decltype(F::batchable)>> = F::batchable;
// It reads nothing that the batch writes, and others of its operator read its result: it is launched first.
template <class F, class = void>
inline constexpr bool goes_ahead = false;
template <class F>
inline constexpr bool goes_ahead<F, std::void_t<decltype(F::goes_ahead)>> = F::goes_ahead;
// Its first output is a parameter, so that an average of it can join.
template <class F, class = void>
inline constexpr bool updates_parameter = false;
template <class F>
inline constexpr bool updates_parameter<F, std::void_t<decltype(F::updates_parameter)>> = F::updates_parameter;
// It averages the parameter that is its last input.
template <class F>
inline constexpr bool averages_parameter = false;
template <class T>
inline constexpr bool averages_parameter<block_average_gpu::ElementRule<T>> = true;

template <class T>
using AverageItem =
    Item<block_average_gpu::ElementRule<T>, std::tuple<T*, T*>, std::tuple<const T*, const T*, const T*>>;

template <class Item, class F, bool = updates_parameter<F>>
struct MapsOf {
  using type = WaitingMaps<Item>;
};
template <class Item, class F>
struct MapsOf<Item, F, true> {
  using Parameter = std::remove_pointer_t<std::tuple_element_t<0, decltype(Item::outs)>>;
  using type = UpdatingMaps<Item, AverageItem<Parameter>>;
};

// Whether the average has joined the update of its parameter, which waits in the same batch.
template <class Item>
bool joins(KernelContext& context, const Item& item) {
  const void* parameter = std::get<std::tuple_size_v<decltype(item.ins)> - 1>(item.ins);
  for (const std::unique_ptr<PendingLaunches>& one : context.pending) {
    auto* updates = dynamic_cast<JoinedMaps*>(one.get());
    if (updates && updates->join(parameter, WaitingMaps<Item>::kind_of(), &item)) return true;
  }
  return false;
}

template <class Item, class F>
void run(KernelContext& context, const Item& item, const F&) {
  if (item.n <= 0) return;
  if constexpr (batchable<F>) {
    if (context.in_batch) {
      if constexpr (averages_parameter<F>) {
        if (joins(context, item)) return;
      }
      using Maps = typename MapsOf<Item, F>::type;
      auto same = [](const std::unique_ptr<PendingLaunches>& one) {
        return one->kind() == WaitingMaps<Item>::kind_of();
      };
      auto found = std::find_if(context.pending.begin(), context.pending.end(), same);
      if (found == context.pending.end()) {
        found = context.pending.insert(goes_ahead<F> ? context.pending.begin() : found, std::make_unique<Maps>());
      }
      static_cast<Maps&>(**found).add(item);
      return;
    }
  }
  using One = Body<Item, 1, 1>;
  int64_t chunks = (item.n + One::kChunk - 1) / One::kChunk;
  launch(context, std::min(chunks, kMostFreeBlocks), One{{item}, {chunks}, 1});
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
