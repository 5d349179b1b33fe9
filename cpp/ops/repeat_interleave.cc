// repeat_interleave: Out = X with each slice along an axis repeated
#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/kept_array.h"
#include "core/parallel.h"
#include "math/axis_lines.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

const TensorAttr kRepeats{"Repeats", "RepeatsTensor"};

// How often each of `length` slices is repeated: one number for all, or one for each.
std::vector<int64_t> repeats_of(const std::vector<int64_t>& numbers, int64_t length) {
  std::vector<int64_t> repeats = numbers;
  if (repeats.size() == 1) repeats.assign(static_cast<size_t>(length), numbers[0]);
  require<ShapeError>(static_cast<int64_t>(repeats.size()) == length, "there are ", repeats.size(), " repeats, X has ",
                      length, " slices along the axis");
  int64_t total = 0;
  for (int64_t one : repeats) {
    require<OpError>(one >= 0, "Repeats has ", one, ", it must be at least 0");
    total += std::min<int64_t>(one, INT32_MAX);
    require<OpError>(total < INT32_MAX, "Repeats gives more than ", INT32_MAX, " slices");
  }
  return repeats;
}

// Slice i of X is at the slices [ends[i - 1], ends[i]) of Out.
struct RepeatedSlices {
  AxisLines lines;
  KeptArray<int64_t> ends;

  RepeatedSlices(const KernelInit& init, const Shape& x) : lines(x, init.attr<int32_t>("dim")) {
    TensorNumbers given = tensor_numbers(init, kRepeats);
    std::vector<int64_t> attribute{init.attr<int32_t>("Repeats")};
    std::vector<int64_t> repeats = repeats_of(given.given ? given.values : attribute, lines.length);
    ends.resize(repeats.size());
    std::partial_sum(repeats.begin(), repeats.end(), ends.begin());
  }
  int64_t count() const { return ends.empty() ? 0 : ends.back(); }
};

struct RepeatInterleaveKernel : Kernel {
  const Variable& x;
  Variable& out;
  RepeatedSlices slices;

  explicit RepeatInterleaveKernel(KernelInit& init)
      : x(*init.input("X")), out(*init.output("Out")), slices(init, x.tensor.shape) {}

  void run(KernelContext& context) override {
    const size_t bytes = static_cast<size_t>(slices.lines.inner) * size_of(x.tensor.dtype);
    const auto* from = static_cast<const char*>(x.tensor.data);
    auto* to = static_cast<char*>(out.tensor.data);
    const int64_t count = slices.count(), length = slices.lines.length;
    if (bytes == 0 || count == 0) return;
    const LoopSize size{slices.lines.outer * count, 4 + bytes_cost(2.0 * static_cast<double>(bytes))};
    parallel_for(context, size, [&](int64_t begin, int64_t end) {
      const auto& ends = slices.ends;
      int64_t first = begin / count * length,
              place = begin % count;  // the first slice of X, and the position in Out from there
      auto source = std::upper_bound(ends.begin(), ends.end(), place);
      for (int64_t i = begin; i < end; ++i) {
        while (*source <= place) ++source;
        const auto slice = static_cast<size_t>(first + (source - ends.begin()));
        std::memcpy(to + static_cast<size_t>(i) * bytes, from + slice * bytes, bytes);
        if (++place == count) place = 0, first += length, source = ends.begin();
      }
    });
  }
};

template <class T>
struct RepeatInterleaveGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  RepeatedSlices slices;

  explicit RepeatInterleaveGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), slices(init, x_gradient.shape()) {}

  void run(KernelContext& context) override {
    const int64_t width = slices.lines.inner, count = slices.count();
    const double cost = bytes_cost(3.0 * sizeof(T)) * static_cast<double>((count + slices.lines.length) * width);
    parallel_for(context, {slices.lines.outer, cost}, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        T* to = x_gradient.data() + o * slices.lines.length * width;
        const T* from = out_gradient.data() + o * count * width;
        std::fill_n(to, slices.lines.length * width, T(0));
        int64_t place = 0;
        for (int64_t slice_end : slices.ends) {
          for (; place < slice_end; ++place) {
            for (int64_t j = 0; j < width; ++j) to[j] = static_cast<T>(to[j] + *from++);
          }
          to += width;
        }
      }
    });
  }
};

Shape repeated_shape(InferContext& c) {
  require_tensors(c);
  Shape out = c.shape("X");
  require<ShapeError>(out.rank() > 0, "X has no dimensions");
  int64_t& length = out[normal_axis(c.attr<int32_t>("dim"), out.rank(), "dim")];
  if (c.has_input("RepeatsTensor")) {
    require_index(c, "RepeatsTensor");
    const Shape& repeats = c.shape("RepeatsTensor");
    require<ShapeError>(repeats.rank() == 1 && (repeats[0] == 1 || dims_agree(repeats[0], length)),
                        "RepeatsTensor has shape ", repeats.str(), ", it must be [1] or [", length, "]");
  }
  TensorNumbers given = tensor_numbers(c, kRepeats);
  if (!given.known) c.await_values();
  bool open = !given.known || length < 0;
  int64_t total = open ? -1 : 0;
  std::vector<int64_t> attribute{c.attr<int32_t>("Repeats")};
  if (!open) {
    for (int64_t one : repeats_of(given.given ? given.values : attribute, length)) total += one;
  }
  length = total;
  return out;
}

}  // namespace

void define_repeat_interleave(OpTable& ops) {
  ops.add(with_tensor_ports(OpSchema("repeat_interleave"), {kRepeats})
              .doc("Out = X with each slice along the axis repeated, one after another.")
              .input("X", "at least one dimension")
              .output("Out", "X's shape with the sum of the repeats along the axis")
              .attr("Repeats", 0, "how often each slice is repeated", at_least(0))
              .attr("dim", 0, "the axis; negative ones count from the end")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, repeated_shape(c)); })
              .gradient("repeat_interleave_grad", {"X", "RepeatsTensor", "Out@GRAD"}, {"X@GRAD"})
              .cpu_only("the repeats may be a tensor that determines the size of Out")
              .kernel_for_any<RepeatInterleaveKernel>());
  ops.add(ops.gradient_of("repeat_interleave")
              .doc("X@GRAD of a slice = the sum of Out@GRAD over its repetitions.")
              .shape_only("X")
              .infer([](InferContext& c) {
                Shape out = repeated_shape(c);
                require<ShapeError>(shapes_agree(c.shape("Out@GRAD"), out), "Out@GRAD has shape ",
                                    c.shape("Out@GRAD").str(), ", Out has ", out.str());
                require_same_dtype(c, "X", "Out@GRAD");
                gradients_like_inputs(c);
              })
              .dtype_from_input("Out@GRAD")
              .kernels<RepeatInterleaveGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
