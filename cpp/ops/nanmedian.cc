// nanmedian: Out = the median of the elements that are not NaN, over some axes
#include <algorithm>
#include <limits>
#include <vector>

#include "core/op_table.h"
#include "math/cpu/each_item.h"
#include "math/reduce.h"
#include "math/strided_places.h"

namespace paddle_mini {
namespace {

template <class Context>
std::vector<bool> nanmedian_axes(const Context& c, const Shape& x) {
  const auto& axes = c.template attr<std::vector<int32_t>>("axis");
  return reduced_axes(x.rank(), axes, axes.empty());
}

// X as sets of elements, one for each element of Out.
struct ReducedSets {
  StridedPlaces firsts, members;  // the first element of each set; the elements of a set, relative to it
  int64_t count = 1, length = 1;

  ReducedSets(const KernelInit& init, const Shape& x) {
    std::vector<bool> reduced = nanmedian_axes(init, x);
    for (int i = 0; i < x.rank(); ++i) {
      bool inside = reduced[static_cast<size_t>(i)];
      (inside ? members : firsts).add(x[i], x.numel(i + 1, x.rank()));
      (inside ? length : count) *= x[i];
    }
  }
};

// The positions of both middle elements, which are one if the number of elements is odd, and -1 if all are NaN.
struct Middle {
  int64_t low = -1, high = -1;
};

// The sum of two integers with one sign could overflow.
template <class T>
T mean_of(T low, T high) {
  if constexpr (std::is_integral_v<T>) {
    if ((low < 0) == (high < 0)) return low < 0 ? high - (high - low) / 2 : low + (high - low) / 2;
  }
  return (low + high) / T(2);
}

template <class T>
struct NanmedianKernel : Kernel {
  In<T> x;
  Out<T> out;
  Out<int64_t> index;
  ReducedSets sets;
  LaneScratch<int64_t> positions;
  LaneScratch<T> elements;

  explicit NanmedianKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), index(init, "MedianIndex", optional_port), sets(init, x.shape()),
        positions(init, sets.length), elements(init, sets.length) {}

  void run(KernelContext& context) override {
    constexpr double kCost = 20;  // nanoseconds to sort one element
    each_item(context, {sets.count, kCost * static_cast<double>(sets.length)}, [&](int64_t i, int lane) {
      T* set = elements.data(lane);
      const T* first = x.data() + sets.firsts(i);
      for (int64_t k = 0; k < sets.length; ++k) set[k] = first[sets.members(k)];
      Middle middle = middle_of(set, positions.data(lane));
      T low = middle.low < 0 ? std::numeric_limits<T>::quiet_NaN() : set[middle.low];
      out[i] = middle.low == middle.high ? low : mean_of(low, set[middle.high]);
      if (index) index[2 * i] = middle.low, index[2 * i + 1] = middle.high;
    });
  }

  Middle middle_of(const T* set, int64_t* order) const {
    int64_t* end = order;
    for (int64_t k = 0; k < sets.length; ++k) {
      if (set[k] == set[k]) *end++ = k;
    }
    int64_t valid = end - order;
    if (valid == 0) return {};
    auto before = [set](int64_t a, int64_t b) { return set[a] < set[b] || (set[a] == set[b] && a < b); };
    int64_t* high = order + valid / 2;
    std::nth_element(order, high, end, before);
    return {valid % 2 ? *high : *std::max_element(order, high, before), *high};
  }
};

template <class T>
struct NanmedianGradKernel : Kernel {
  In<int64_t> index;
  In<T> out_gradient;
  Out<T> x_gradient;
  ReducedSets sets;

  explicit NanmedianGradKernel(KernelInit& init)
      : index(init, "MedianIndex"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        sets(init, x_gradient.shape()) {}

  void run(KernelContext&) override {
    for (int64_t i = 0; i < index.numel(); ++i) {
      require<OpError>(index[i] >= -1 && index[i] < sets.length, "MedianIndex holds ", index[i], ", a median is of ",
                       sets.length, " elements");
    }
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    for (int64_t i = 0; i < index.numel(); ++i) {
      if (index[i] < 0) continue;
      bool one = index[i - i % 2] == index[i - i % 2 + 1];
      T* to = x_gradient.data() + sets.firsts(i / 2);
      if (!one) to[sets.members(index[i])] = out_gradient[i / 2] / T(2);
      else if (i % 2 == 0) to[sets.members(index[i])] = out_gradient[i / 2];
    }
  }
};

Shape median_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  std::vector<bool> reduced = nanmedian_axes(c, x);
  for (int i = 0; i < x.rank(); ++i) {
    require<ShapeError>(x[i] != 0 || !reduced[static_cast<size_t>(i)], "X has shape ", x.str(),
                        ": it has no elements along axis ", i, ", so no median");
  }
  return reduced_shape(x, reduced, c.attr<bool>("keepdim"));
}

Shape middle_shape(Shape out) {
  out.push_back(2);
  return out;
}

}  // namespace

void define_nanmedian(OpTable& ops) {
  ops.add(
      OpSchema("nanmedian")
          .doc("Out = the median over the axes of the elements that are not NaN: the middle one in ascending order, "
               "or the mean of the middle two, which of integers is rounded towards 0; NaN if all are NaN.")
          .input("X", "any shape, with elements along the axes")
          .output("Out", "X's shape without the axes")
          .optional_output("MedianIndex",
                           "int64, Out's shape and 2: the positions of the middle two elements among those along "
                           "the axes, twice the same if there is one; -1 if all are NaN")
          .attr("axis", std::vector<int32_t>{}, "the axes; empty: all")
          .attr("keepdim", false, "whether the axes stay, with 1 element each")
          .infer([](InferContext& c) {
            Shape out = median_shape(c);
            c.set_output("Out", c.input("X").dtype, out);
            c.set_output("MedianIndex", DType::Int64, middle_shape(out));
          })
          .gradient("nanmedian_grad", {"X", "MedianIndex", "Out@GRAD"}, {"X@GRAD"})
          .cpu_only("each set of elements is sorted in part; argsort runs on a GPU")
          .kernels<NanmedianKernel, float, double, int32_t, int64_t>());
  ops.add(ops.gradient_of("nanmedian")
              .doc("X@GRAD = Out@GRAD at the middle element; half of it at each of the middle two.")
              .shape_only("X")
              .infer([](InferContext& c) {
                Shape out = median_shape(c);
                require<ShapeError>(same_shape(c.shape("Out@GRAD"), out), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out has ", out.str());
                require<ShapeError>(shapes_agree(c.shape("MedianIndex"), middle_shape(out)), "MedianIndex has shape ",
                                    c.shape("MedianIndex").str(), ", it must be ", middle_shape(out).str());
                require_same_dtype(c, "X", "Out@GRAD");
                gradients_like_inputs(c);
              })
              .checks_data()
              .dtype_from_input("Out@GRAD")
              .kernels<NanmedianGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
