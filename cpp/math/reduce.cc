// Sums over axes and their gradients, row by row of the innermost run of axes.
#include "math/reduce.h"

namespace paddle_mini {

std::vector<bool> reduced_axes(int rank, const std::vector<int32_t>& dim, bool reduce_all) {
  std::vector<bool> reduced(rank, reduce_all || dim.empty());
  for (int32_t axis : dim) {
    if (rank > 0) reduced[normal_axis(axis, rank, "dim")] = true;
    else require<ShapeError>(axis == 0 || axis == -1, "dim is ", axis, ", but the tensor has no dimensions");
  }
  return reduced;
}

Shape reduced_shape(const Shape& x, const std::vector<bool>& reduced, bool keep_dim) {
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) out.push_back(x[i]);
    else if (keep_dim) out.push_back(1);
  }
  return out;
}

Reduction::Reduction(const Shape& x, const std::vector<bool>& reduced) {
  std::vector<Dim> dims;  // from the fastest
  int64_t out_step = 1;
  numel_ = x.numel();
  for (int i = x.rank() - 1; i >= 0; --i) {
    if (reduced[i]) reduced_count_ *= x[i];
    if (x[i] == 1) continue;
    if (!dims.empty() && dims.back().reduced == reduced[i]) dims.back().size *= x[i];
    else dims.push_back({x[i], reduced[i], reduced[i] ? 0 : out_step});
    if (!reduced[i]) out_step *= x[i];
  }
  out_numel_ = out_step;
  if (!dims.empty()) {
    inner_ = dims.front();
    outer_.assign(dims.rbegin(), dims.rend() - 1);
  }
}

#ifndef PM_GPU
template <class F>
void Reduction::each_row(F f) const {
  int64_t rows = inner_.size ? numel_ / inner_.size : 0;
  int64_t index[Shape::kMaxRank] = {};
  int64_t out = 0;
  for (int64_t row = 0; row < rows; ++row) {
    f(row * inner_.size, out);
    for (int d = static_cast<int>(outer_.size()) - 1; d >= 0; --d) {
      out += outer_[d].out_step;
      if (++index[d] < outer_[d].size) break;
      out -= outer_[d].out_step * outer_[d].size;
      index[d] = 0;
    }
  }
}

template <class T>
void Reduction::sum(Device& device, T scale, const T* x, T* out) const {
  int64_t n = inner_.size;
  std::fill(out, out + out_numel_, T(0));
  each_row([&](int64_t in, int64_t to) {
    if (inner_.reduced) {
      if constexpr (has_vec<T>) out[to] += static_cast<T>(map_sum(device, n, [](auto a) { return a; }, x + in));
      else
        for (int64_t i = 0; i < n; ++i) out[to] += x[in + i];
    } else {
      map(device, n, [](auto total, auto a) { return total + a; }, out + to, static_cast<const T*>(out + to), x + in);
    }
  });
  if (scale != T(1))
    map(device, out_numel_, [scale](auto a) { return a * decltype(a)(scale); }, out, static_cast<const T*>(out));
}

template <class T>
void Reduction::spread(Device& device, T scale, const T* y, T* out) const {
  int64_t n = inner_.size;
  each_row([&](int64_t to, int64_t from) {
    if (inner_.reduced) std::fill(out + to, out + to + n, static_cast<T>(y[from] * scale));
    else map(device, n, [scale](auto a) { return a * decltype(a)(scale); }, out + to, y + from);
  });
}

template void Reduction::sum<float>(Device&, float, const float*, float*) const;
template void Reduction::sum<double>(Device&, double, const double*, double*) const;
template void Reduction::sum<int32_t>(Device&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::sum<int64_t>(Device&, int64_t, const int64_t*, int64_t*) const;
template void Reduction::spread<float>(Device&, float, const float*, float*) const;
template void Reduction::spread<double>(Device&, double, const double*, double*) const;
template void Reduction::spread<int32_t>(Device&, int32_t, const int32_t*, int32_t*) const;
template void Reduction::spread<int64_t>(Device&, int64_t, const int64_t*, int64_t*) const;
#endif

namespace {

Shape out_shape(const InferContext& c) {
  const Shape& x = c.shape("X");
  std::vector<bool> reduced = reduced_axes(x.rank(), c.attr<std::vector<int32_t>>("dim"), c.attr<bool>("reduce_all"));
  return reduced_shape(x, reduced, c.attr<bool>("keep_dim"));
}

}  // namespace

void infer_reduction(InferContext& c, DType otherwise) {
  require_tensors(c);
  c.set_output("Out", c.attr<int32_t>("out_dtype") < 0 ? otherwise : c.dtype_attr("out_dtype"), out_shape(c));
}

OpSpec reduction(const char* type) {
  return OpSpec(type)
      .input("X", "any shape")
      .output("Out", "X's shape without the reduced axes")
      .attr("dim", std::vector<int32_t>{0}, "the axes to reduce; empty: all")
      .attr("keep_dim", false, "whether a reduced axis stays, with one element")
      .attr("reduce_all", false, "whether all axes are reduced, whatever `dim` says")
      .attr("in_dtype", -1, "not read: X knows its element type")
      .attr("out_dtype", -1, "element type of Out; -1: chosen by the operator. Only sums and means look at it",
            at_least(-1));
}

OpSpec reduction_gradient(const OpTable& ops, const char* forward) {
  return ops.gradient_of(forward).infer([](InferContext& c) {
    Shape out = out_shape(c);
    require<ShapeError>(same_shape(out, c.shape("Out@GRAD")), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                        ", Out has ", out.str());
    gradients_like_inputs(c);
  });
}

}  // namespace paddle_mini
