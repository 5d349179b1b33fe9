// sequence_pool: Out[i] = the sum, mean, maximum, first or last of the rows of sequence i
#include <algorithm>

#include "math/cpu/each_sequence.h"
#include "math/map.h"
#include "math/sequences.h"

namespace paddle_mini {
namespace {

enum class Pool { Sum, Average, Sqrt, Max, Last, First };

const std::vector<std::string>& pool_names() {
  static const std::vector<std::string> names{"SUM", "AVERAGE", "SQRT", "MAX", "LAST", "FIRST"};
  return names;
}

template <class Context>
Pool pool_of(const Context& c) {
  const auto& names = pool_names();
  return static_cast<Pool>(std::find(names.begin(), names.end(), c.template attr<std::string>("pooltype")) -
                           names.begin());
}

// The divisor of the sum of `rows` rows.
double divisor(Pool pool, int64_t rows) {
  double n = static_cast<double>(rows);
  return pool == Pool::Average ? n : pool == Pool::Sqrt ? std::sqrt(n) : 1;
}

template <class T>
struct SequencePoolKernel : Kernel {
  In<T> x;
  Out<T> out;
  Out<int32_t> index;  // the row of each maximum
  Pool pool;
  bool indexed;
  T pad;
  Offsets offsets;
  int64_t width;

  explicit SequencePoolKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), index(init, "MaxIndex", optional_port), pool(pool_of(init)),
        indexed(index && pool == Pool::Max && !init.attr<bool>("is_test")), pad(init.attr<float>("pad_value")),
        offsets(offsets_of(&x.variable())), width(row_numel(x.shape())) {}

  void run(KernelContext& context) override {
    const double cost = bytes_cost(3.0 * sizeof(T)) * static_cast<double>(width);
    each_sequence(context, offsets, cost, [&](int64_t i, int64_t begin, int64_t end) {
      int64_t at = i * width;
      T* to = out.data() + at;
      if (begin == end) {
        std::fill_n(to, width, pad);
        if (indexed) std::fill_n(index.data() + at, width, -1);
        return;
      }
      std::copy_n(x.data() + (pool == Pool::Last ? end - 1 : begin) * width, width, to);
      if (indexed) largest_row(begin, end, to, index.data() + at);
      else fold(context, begin, end, to);
    });
  }

  void fold(KernelContext& context, int64_t begin, int64_t end, T* to) {
    if (pool == Pool::Last || pool == Pool::First) return;
    for (int64_t row = begin + 1; row < end; ++row) {
      const T *so_far = to, *from = x.data() + row * width;
      if (pool == Pool::Max) map(context, width, [](auto a, auto b) { return maximum(a, b); }, to, so_far, from);
      else map(context, width, [](auto a, auto b) { return a + b; }, to, so_far, from);
    }
    T by = static_cast<T>(divisor(pool, end - begin));
    if (by != T(1)) {
      map(context, width, [by](auto a) { return a / decltype(a)(by); }, to, static_cast<const T*>(to));
    }
  }

  // The first of equal elements is taken; NaN counts as larger than all numbers.
  void largest_row(int64_t begin, int64_t end, T* to, int32_t* which) {
    std::fill_n(which, width, static_cast<int32_t>(begin));
    for (int64_t row = begin + 1; row < end; ++row) {
      const T* from = x.data() + row * width;
      for (int64_t k = 0; k < width; ++k) {
        if (to[k] == to[k] && !(from[k] <= to[k])) to[k] = from[k], which[k] = static_cast<int32_t>(row);
      }
    }
  }
};

template <class T>
struct SequencePoolGradKernel : Kernel {
  In<T> out_gradient;
  In<int32_t> index;
  Out<T> x_gradient;
  Pool pool;
  Offsets offsets;
  int64_t width;

  explicit SequencePoolGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), index(init, "MaxIndex", optional_port), x_gradient(init, "X@GRAD"),
        pool(pool_of(init)), offsets(offsets_of(init.input("X"))), width(row_numel(x_gradient.shape())) {}

  void run(KernelContext& context) override {
    if (pool == Pool::Max) check_index();
    const double cost = bytes_cost(2.0 * sizeof(T)) * static_cast<double>(width);
    each_sequence(context, offsets, cost, [&](int64_t i, int64_t begin, int64_t end) {
      const T* gradient = out_gradient.data() + i * width;
      T* to = x_gradient.data();
      if (begin == end) return;
      if (pool == Pool::Sum || pool == Pool::Average || pool == Pool::Sqrt) {
        T by = static_cast<T>(divisor(pool, end - begin));
        for (int64_t row = begin; row < end; ++row) {
          map(context, width, [by](auto g) { return g / decltype(g)(by); }, to + row * width, gradient);
        }
        return;
      }
      std::fill(to + begin * width, to + end * width, T(0));
      if (pool == Pool::First) std::copy_n(gradient, width, to + begin * width);
      else if (pool == Pool::Last) std::copy_n(gradient, width, to + (end - 1) * width);
      else
        for (int64_t k = 0; k < width; ++k) to[row_at(i, k) * width + k] = gradient[k];
    });
  }
  bool may_fail_validation() const override { return pool == Pool::Max; }

  int64_t row_at(int64_t i, int64_t k) const { return index[i * width + k]; }

  void check_index() {
    for (size_t i = 0; i + 1 < offsets.size(); ++i) {
      for (int64_t k = 0; k < width && offsets[i] != offsets[i + 1]; ++k) {
        int64_t row = row_at(static_cast<int64_t>(i), k);
        require<OpError>(row >= offsets[i] && row < offsets[i + 1], "MaxIndex has ", row, " for sequence ", i,
                         ", which has the rows ", offsets[i], " to ", offsets[i + 1] - 1);
      }
    }
  }
};

Shape pooled(const InferContext& c) { return with_rows(c.shape("X"), count_of(sequences(c, "X"))); }

void infer_pool(InferContext& c) {
  VarInfo out = c.input("X");
  out.shape = pooled(c);
  if (!out.lod.empty()) out.lod.pop_back();
  out.lod_level = std::max(out.lod_level - 1, 0);
  c.set_output("Out", out);
  bool indexed = pool_of(c) == Pool::Max && !c.attr<bool>("is_test");
  require<ShapeError>(!indexed || c.shape("X")[0] <= INT32_MAX, "X has ", c.shape("X")[0], " rows, MaxIndex is int32");
  c.set_output("MaxIndex", DType::Int32, indexed ? out.shape : with_rows(out.shape, 0));
}

void infer_pool_grad(InferContext& c) {
  Shape out = pooled(c);
  require_gradient_of(c, "Out@GRAD", "X", out);
  if (pool_of(c) == Pool::Max) {
    require<ProgramError>(c.has_input("MaxIndex"), "input MaxIndex is missing, which pooltype MAX needs");
    const VarInfo& index = c.input("MaxIndex");
    require<ShapeError>(index.dtype == DType::Int32 && shapes_agree(index.shape, out), "MaxIndex is ", index.str(),
                        ", it must be ", out.str(), " int32");
  }
  gradients_like_inputs(c);
}

OpSchema& with_attributes(OpSchema& schema) {
  return schema
      .attr("pooltype", "AVERAGE",
            "SUM, AVERAGE, SQRT (the sum divided by the square root of the length), MAX, LAST or FIRST",
            one_of(pool_names()))
      .attr("pad_value", 0.0f, "the value of Out for a sequence without rows")
      .attr("is_test", false, "whether MaxIndex stays empty");
}

std::vector<OpDesc> pool_gradient(const OpDesc& forward) {
  std::vector<Slot> inputs{{"X", forward.input("X")}, {"Out@GRAD", gradient_names(forward.output("Out"))}};
  const AttrValue* pooltype = forward.attr("pooltype");
  bool indexed = pooltype && *pooltype == AttrValue(std::string("MAX"));
  if (indexed) inputs.push_back({"MaxIndex", forward.output("MaxIndex")});
  return {make_op("sequence_pool_grad", inputs, {{"X@GRAD", gradient_names(forward.input("X"))}}, forward.attrs)};
}

}  // namespace

void define_sequence_pool(OpTable& ops) {
  OpSchema forward("sequence_pool"), backward("sequence_pool_grad");
  forward.doc("Out[i] = the rows of sequence i of X's last lod level, reduced to one; the other levels stay unchanged.")
      .input("X", "sequences of rows of any shape")
      .output("Out", "a row for each sequence")
      .optional_output("MaxIndex", "for MAX: the row of X of each element of Out, int32, -1 for none; otherwise empty");
  with_attributes(forward)
      .infer(infer_pool)
      .custom_lod()
      .gradient(pool_gradient)
      .cpu_only("processes sequences of different lengths one after the other")
      .kernels<SequencePoolKernel, float, double>();
  backward.doc("X@GRAD = Out@GRAD at the rows that Out[i] was computed from, divided like Out; 0 at the others.")
      .input("X", "as in sequence_pool; its values are not read")
      .optional_input("MaxIndex", "from sequence_pool; required for MAX")
      .input("Out@GRAD", "shape of Out")
      .output("X@GRAD", "shape of X");
  with_attributes(backward)
      .infer(infer_pool_grad)
      .checks_data()
      .cpu_only("processes sequences of different lengths one after the other")
      .kernels<SequencePoolGradKernel, float, double>();
  ops.add(forward);
  ops.add(backward);
}

}  // namespace paddle_mini
