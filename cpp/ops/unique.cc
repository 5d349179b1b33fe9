// unique: Out = the distinct elements of X, or its distinct slices along an axis; unique_consecutive: X without the
// elements, or slices, that are equal to the one before them
#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

// X as `count` items of outer * inner elements each: single elements, or slices along an axis.
struct Items {
  int64_t outer = 1, count = 1, inner = 1;

  Items(const Shape& x, const std::vector<int32_t>& axes) {
    if (axes.empty()) {
      count = x.numel();
      return;
    }
    int axis = normal_axis(axes[0], x.rank(), "attribute 'axis'");
    outer = x.numel(0, axis), count = x[axis], inner = x.numel(axis + 1, x.rank());
  }

  // Negative, 0 or positive if item a is less than, equal to or greater than item b. NaNs are greater than all numbers
  // and equal to one another, which makes this a total order.
  template <class T>
  int compare(const T* data, int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        T left = data[(o * count + a) * inner + i], right = data[(o * count + b) * inner + i];
        if (left < right) return -1;
        if (right < left) return 1;
        if (left == right) continue;
        bool left_none = left != left, right_none = right != right;
        if (left_none != right_none) return left_none ? 1 : -1;
      }
    }
    return 0;
  }

  // Whether all elements are equal; a NaN is equal to nothing.
  template <class T>
  bool equal(const T* data, int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o) {
      const T* items = data + o * count * inner;
      if (!std::equal(items + a * inner, items + (a + 1) * inner, items + b * inner)) return false;
    }
    return true;
  }
};

struct UniqueItems {
  std::vector<int64_t> first;    // first occurrence of each unique item
  std::vector<int64_t> inverse;  // for each item, the index of its unique item
  std::vector<int64_t> counts;   // number of occurrences of each unique item
};

template <class T>
UniqueItems find_unique(const T* data, const Items& items, bool sorted) {
  std::vector<int64_t> order(static_cast<size_t>(items.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    int sign = items.compare(data, a, b);
    return sign != 0 ? sign < 0 : a < b;
  });
  UniqueItems unique;
  unique.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    bool fresh = i == 0 || items.compare(data, order[i - 1], order[i]) != 0;
    if (fresh) unique.first.push_back(order[i]), unique.counts.push_back(0);
    unique.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(unique.first.size()) - 1;
    ++unique.counts.back();
  }
  if (sorted) return unique;
  // Reorders the unique items by first occurrence.
  std::vector<size_t> by_place(unique.first.size());
  std::iota(by_place.begin(), by_place.end(), size_t{0});
  std::sort(by_place.begin(), by_place.end(), [&](size_t a, size_t b) { return unique.first[a] < unique.first[b]; });
  UniqueItems placed;
  std::vector<int64_t> place(by_place.size());
  for (size_t i = 0; i < by_place.size(); ++i) {
    place[by_place[i]] = static_cast<int64_t>(i);
    placed.first.push_back(unique.first[by_place[i]]);
    placed.counts.push_back(unique.counts[by_place[i]]);
  }
  for (int64_t one : unique.inverse) placed.inverse.push_back(place[static_cast<size_t>(one)]);
  return placed;
}

template <class T>
UniqueItems find_runs(const T* data, const Items& items) {
  UniqueItems runs;
  for (int64_t i = 0; i < items.count; ++i) {
    if (i == 0 || !items.equal(data, i - 1, i)) runs.first.push_back(i), runs.counts.push_back(0);
    runs.inverse.push_back(static_cast<int64_t>(runs.first.size()) - 1);
    ++runs.counts.back();
  }
  return runs;
}

void write_numbers(Variable* to, const std::vector<int64_t>& numbers) {
  if (!to) return;
  if (to->tensor.dtype == DType::Int64) std::copy(numbers.begin(), numbers.end(), to->tensor.as<int64_t>());
  else
    std::transform(numbers.begin(), numbers.end(), to->tensor.as<int32_t>(),
                   [](int64_t n) { return static_cast<int32_t>(n); });
}

// How the items of Out are found, for all attributes and data.
struct AllItems {
  bool sorted;
  template <class Context>
  explicit AllItems(const Context& c) : sorted(c.template attr<bool>("is_sorted")) {}
  static Variable* indices(const KernelInit& init) { return init.output("Indices"); }
  template <class T>
  UniqueItems find(const T* data, const Items& items) const {
    return find_unique(data, items, sorted);
  }
};

struct ConsecutiveItems {
  template <class Context>
  explicit ConsecutiveItems(const Context&) {}
  static Variable* indices(const KernelInit&) { return nullptr; }
  template <class T>
  UniqueItems find(const T* data, const Items& items) const {
    return find_runs(data, items);
  }
};

template <class Rule, class T>
struct UniqueItemsKernel : Kernel {
  In<T> x;
  Out<T> out;
  Variable *indices, *index, *counts;
  Items items;
  Rule rule;

  explicit UniqueItemsKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), indices(Rule::indices(init)), index(init.output("Index")),
        counts(init.output("Counts")), items(x.shape(), init.attr<std::vector<int32_t>>("axis")), rule(init) {}

  void run(KernelContext&) override {
    UniqueItems unique = rule.find(x.data(), items);
    auto width = static_cast<size_t>(items.inner);
    T* to = out.data();
    for (int64_t o = 0; o < items.outer; ++o) {
      for (int64_t from : unique.first) {
        std::copy_n(x.data() + (o * items.count + from) * items.inner, width, to);
        to += width;
      }
    }
    write_numbers(indices, unique.first);
    write_numbers(index, unique.inverse);
    write_numbers(counts, unique.counts);
  }
};

template <class T>
using UniqueKernel = UniqueItemsKernel<AllItems, T>;
template <class T>
using UniqueConsecutiveKernel = UniqueItemsKernel<ConsecutiveItems, T>;

template <class Rule>
int64_t count_unique(const Variable& x, const Items& items, const Rule& rule) {
  auto count = [&](auto* data) { return static_cast<int64_t>(rule.find(data, items).first.size()); };
  switch (x.tensor.dtype) {
    case DType::Float32: return count(x.tensor.as<float>());
    case DType::Float64: return count(x.tensor.as<double>());
    case DType::Int32: return count(x.tensor.as<int32_t>());
    case DType::Int64: return count(x.tensor.as<int64_t>());
    default: fail<ShapeError>("X is ", name_of(x.tensor.dtype), ", it must be float32, float64, int32 or int64");
  }
}

// Returns the number of items of Out; -1 before the data is known.
template <class Rule>
int64_t infer_unique_items(InferContext& c) {
  const Shape& x = c.shape("X");
  const auto& axes = c.attr<std::vector<int32_t>>("axis");
  DType numbers = c.dtype_attr("dtype");
  bool whole = numbers == DType::Int32 || numbers == DType::Int64;
  require<ProgramError>(whole, "attribute 'dtype' is ", name_of(numbers), ", it must be int32 or int64");
  require<ProgramError>(axes.size() <= 1, "attribute 'axis' has ", axes.size(), " elements, at most 1 is possible");
  int axis = axes.empty() ? 0 : normal_axis(axes[0], x.rank(), "attribute 'axis'");
  int64_t count = -1;
  if (const Variable* value = c.value("X")) count = count_unique(*value, Items(x, axes), Rule(c));
  Shape out = axes.empty() ? Shape{count} : x;
  if (!axes.empty()) out[axis] = count;
  c.set_output("Out", c.input("X").dtype, out);
  c.set_output("Counts", numbers, Shape{count});
  c.set_output("Index", numbers, Shape{axes.empty() ? x.numel(0, x.rank()) : x[axis]});
  return count;
}

void infer_unique(InferContext& c) {
  if (!c.attr<bool>("is_sorted")) require_rank(c, "X", 1);
  c.set_output("Indices", c.dtype_attr("dtype"), Shape{infer_unique_items<AllItems>(c)});
}

OpSchema with_unique_attributes(OpSchema schema) {
  return schema.attr("return_inverse", false, "not read: whether Index is wanted")
      .attr("return_counts", false, "not read: whether Counts is wanted")
      .attr("axis", std::vector<int32_t>{}, "one axis; empty: all elements")
      .custom_lod()
      .no_gradient("its inputs are ids, which are integers")
      .cpu_only("the size of its result depends on data");
}

}  // namespace

void define_unique(OpTable& ops) {
  ops.add(with_unique_attributes(OpSchema("unique"))
              .doc("Out = the unique elements of X: sorted with is_sorted, otherwise in the order of their first "
                   "occurrence. With `axis`, unique slices along it. NaNs count as equal and come last. The number of "
                   "elements depends on data. The outputs that the program names are computed; the return_ attributes "
                   "are not read.")
              .input("X", "any shape; without is_sorted, one dimension")
              .output("Out", "[n]; with `axis`, X's shape with n along it")
              .optional_output("Indices", "[n]: the first position of each in X")
              .output("Index", "for each element of X, its position in Out")
              .optional_output("Counts", "[n]: the number of occurrences of each")
              .attr("return_index", false, "not read: whether Indices is wanted")
              .attr("dtype", 3, "element type of Indices, Index and Counts: int32 or int64")
              .attr("is_sorted", false, "whether Out is sorted")
              .infer(infer_unique)
              .kernels<UniqueKernel, float, double, int32_t, int64_t>());
  ops.add(with_unique_attributes(OpSchema("unique_consecutive"))
              .doc("Out = X without the elements that are equal to the one before them. With `axis`, without such "
                   "slices along it. A NaN is equal to nothing. The number of elements depends on data. The outputs "
                   "that the program names are computed; the return_ attributes are not read.")
              .input("X", "any shape")
              .output("Out", "[n]; with `axis`, X's shape with n along it")
              .optional_output("Index", "for each element of X, its position in Out")
              .optional_output("Counts", "[n]: the number of elements of X that each stands for")
              .attr("dtype", 3, "element type of Index and Counts: int32 or int64")
              .infer([](InferContext& c) { infer_unique_items<ConsecutiveItems>(c); })
              .kernels<UniqueConsecutiveKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
