// The kernels of nll_loss on a GPU.
#pragma once

namespace paddle_mini {
namespace {

// The weighted loss and the weight of a row; both are 0 for an ignored row.
template <class T>
struct NllTerms {
  LabelsBelow labels;
  int64_t inner;
  const T *x, *weight;
  PM_DEVICE TwoSums operator()(const int64_t (&row)[1]) const {
    int64_t label = labels[row[0]], i = row[0];
    if (label < 0) return {0, 0};
    T w = weight ? weight[label] : T(1);
    return {-static_cast<double>(x[(i / inner * labels.classes + label) * inner + i % inner] * w),
            static_cast<double>(w)};
  }
};
template <class T>
struct PutNll {
  bool mean;
  T *out, *total_weight;
  PM_DEVICE void operator()(int64_t, const TwoSums& sums) const {
    *out = static_cast<T>(mean && sums.second != 0 ? sums.first / sums.second : sums.first);
    *total_weight = static_cast<T>(sums.second);
  }
};
template <class T>
struct NllOfEach {
  NllTerms<T> terms;
  T* out;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t row[1] = {i};
    out[i] = static_cast<T>(terms(row).first);
  }
};

template <class T>
struct NllSlope {
  LabelsBelow labels;
  int64_t inner;
  bool each, mean;
  const T *weight, *gradient, *total_weight;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, labels.classes, inner);
    int64_t label = labels[place.line];
    T divisor = mean && *total_weight != T(0) ? *total_weight : T(1), w = weight && label >= 0 ? weight[label] : T(1);
    to[i] = place.at == label ? -w * gradient[each ? place.line : 0] / divisor : T(0);
  }
};

template <class T>
void NllLossKernel<T>::run(KernelContext& context) {
  int64_t n = rows.label.numel();
  NllTerms<T> terms{{context, rows.label, rows.classes, rows.ignored},
                    rows.inner,
                    x.data(),
                    rows.weight ? rows.weight.data() : nullptr};
  if (reduction == "none") {
    fill_n(context, total_weight.data(), 1, T(0));
    return for_each_index(context, n, NllOfEach<T>{terms, out.data()});
  }
  StridedIndex<1> one, all;
  all.add(n, {1});
  fold(context, one, all, TwoSums{0, 0}, terms, PlusBoth{},
       PutNll<T>{reduction == "mean", out.data(), total_weight.data()});
}

template <class T>
void NllLossGradKernel<T>::run(KernelContext& context) {
  NllSlope<T> body{
      {context, rows.label, rows.classes, rows.ignored}, rows.inner,          reduction == "none", reduction == "mean",
      rows.weight ? rows.weight.data() : nullptr,        out_gradient.data(), total_weight.data(), x_gradient.data()};
  for_each_index(context, x_gradient.numel(), body);
}

}  // namespace
}  // namespace paddle_mini
