// Stands for libcudnn.so.9: convolutions as they are defined. Of the algorithms that it offers only one of each
// direction is to be taken.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "stand_in.h"

namespace {

constexpr int kBadParameter = 2000, kNotSupported = 3000;
constexpr size_t kMemory = 4096;

struct Context {
  CUstream_st* stream = nullptr;
};

struct Tensor {
  int type = -1;
  std::vector<int> sizes, steps;
  long long count() const {
    long long all = 1;
    for (int size : sizes) all *= size;
    return all;
  }
};

struct Convolution {
  int math = 0, groups = 1, mode = -1, type = -1;
  std::vector<int> before, strides, dilations;
};

struct Performance {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
};

enum Wanted { Out, Filter, Image };

std::vector<int> list(const int* from, int count) { return {from, from + count}; }

// Why the three do not go together, or "".
std::string trouble(const Tensor& x, const Tensor& w, const Tensor& y, const Convolution& c) {
  size_t rank = x.sizes.size(), axes = rank - 2;
  if (rank < 4 || rank > 5 || w.sizes.size() != rank || y.sizes.size() != rank || c.before.size() != axes)
    return "ranks";
  if (x.type != w.type || x.type != y.type || x.type != c.type || x.type < 0 || x.type > 1) return "types";
  if (c.mode != 1 || c.math != 3) return "not a cross-correlation in full precision";
  if (x.sizes[1] != w.sizes[1] * c.groups || w.sizes[0] % c.groups != 0 || y.sizes[1] != w.sizes[0] ||
      x.sizes[0] != y.sizes[0])
    return "channels";
  for (size_t d = 0; d < axes; ++d) {
    int seen = c.dilations[d] * (w.sizes[d + 2] - 1) + 1;
    if (c.before[d] < 0 || c.strides[d] < 1 || c.dilations[d] < 1) return "a window";
    if (y.sizes[d + 2] != (x.sizes[d + 2] + 2 * c.before[d] - seen) / c.strides[d] + 1) return "the size of the result";
  }
  return "";
}

// f(index in x, in w, in y) wherever the filter meets a pixel.
template <class F>
void each_meeting(const Tensor& x, const Tensor& w, const Tensor& y, const Convolution& c, F f) {
  size_t axes = c.before.size();
  int outs = w.sizes[0] / c.groups;
  std::vector<int> o(axes), t(axes);
  long long windows = 1, taps = 1;
  for (size_t d = 0; d < axes; ++d) windows *= y.sizes[d + 2], taps *= w.sizes[d + 2];
  for (int n = 0; n < x.sizes[0]; ++n) {
    for (int k = 0; k < w.sizes[0]; ++k) {
      for (int ch = 0; ch < w.sizes[1]; ++ch) {
        for (long long window = 0; window < windows; ++window) {
          for (long long tap = 0; tap < taps; ++tap) {
            long long in_x = n * static_cast<long long>(x.steps[0]) +
                             (k / outs * w.sizes[1] + ch) * static_cast<long long>(x.steps[1]);
            long long in_y = n * static_cast<long long>(y.steps[0]) + k * static_cast<long long>(y.steps[1]);
            bool inside = true;
            long long rest_o = window, rest_t = tap;
            for (size_t d = axes; d-- > 0;) {
              long long out = rest_o % y.sizes[d + 2], of_tap = rest_t % w.sizes[d + 2];
              rest_o /= y.sizes[d + 2], rest_t /= w.sizes[d + 2];
              long long at = out * c.strides[d] - c.before[d] + of_tap * c.dilations[d];
              inside = inside && at >= 0 && at < x.sizes[d + 2];
              in_x += at * x.steps[d + 2];
              in_y += out * y.steps[d + 2];
            }
            if (inside) f(in_x, (k * static_cast<long long>(w.sizes[1]) + ch) * taps + tap, in_y);
          }
        }
      }
    }
  }
}

template <class T>
void convolve(Wanted wanted, const Tensor& x, T* image, const Tensor& w, T* filter, const Tensor& y, T* out,
              const Convolution& c) {
  T* to = wanted == Out ? out : wanted == Filter ? filter : image;
  const Tensor& of = wanted == Out ? y : wanted == Filter ? w : x;
  std::fill_n(to, of.count(), T(0));  // dense, whatever the order of the axes
  each_meeting(x, w, y, c, [&](long long in_x, long long in_w, long long in_y) {
    if (wanted == Out) out[in_y] += image[in_x] * filter[in_w];
    else if (wanted == Filter) filter[in_w] += image[in_x] * out[in_y];
    else image[in_x] += filter[in_w] * out[in_y];
  });
}

int run(Wanted wanted, Context* context, const void* alpha, const void* beta, const Tensor& x, const void* image,
        const Tensor& w, const void* filter, const Tensor& y, const void* out, const Convolution& c, int algorithm,
        void* workspace, size_t bytes) {
  std::string why = trouble(x, w, y, c);
  if (!why.empty()) return stand_in::refuse(why, kBadParameter);
  bool plain = x.type == 0 ? *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0
                           : *static_cast<const double*>(alpha) == 1 && *static_cast<const double*>(beta) == 0;
  if (!plain || !context->stream) return stand_in::refuse("factors, or the stream", kBadParameter);
  if (algorithm != (wanted == Out ? 3 : 1))
    return stand_in::refuse("the algorithm " + std::to_string(algorithm), kBadParameter);
  if (!workspace || bytes != kMemory) return stand_in::refuse("the workspace", kBadParameter);
  context->stream->launch([=] {
    std::memset(workspace, 0xff, bytes);
    auto mutable_of = [](const void* data) { return const_cast<void*>(data); };
    void *a = mutable_of(image), *b = mutable_of(filter), *o = mutable_of(out);
    if (x.type == 0)
      convolve(wanted, x, static_cast<float*>(a), w, static_cast<float*>(b), y, static_cast<float*>(o), c);
    else convolve(wanted, x, static_cast<double*>(a), w, static_cast<double*>(b), y, static_cast<double*>(o), c);
  });
  return 0;
}

// The fastest first: none but the last is good.
int offer(Wanted wanted, const Tensor& x, const Tensor& w, const Tensor& y, const Convolution& c, int most, int* count,
          Performance* to) {
  std::string why = trouble(x, w, y, c);
  if (!why.empty()) return stand_in::refuse(why, kNotSupported);
  int good = wanted == Out ? 3 : 1;
  std::vector<Performance> all{{wanted == Out ? 6 : 4, 0, 1, 0, 1, 3, {}},   // Winograd's transform
                               {good, kNotSupported, 1, 0, 1, 3, {}},
                               {good, 0, 1, size_t{64} << 20, 1, 3, {}},      // more memory than there is
                               {0, 0, 1, 0, 0, 3, {}},                        // not the same every time
                               {good, 0, 1, 0, 1, 1, {}},                     // tensor cores
                               {good, 0, 1, kMemory, 1, 3, {}}};
  *count = static_cast<int>(all.size());
  if (most < *count) return stand_in::refuse("too few algorithms are asked for", kBadParameter);
  std::copy(all.begin(), all.end(), to);
  return 0;
}

}  // namespace

extern "C" {

int cudnnCreate(Context** made) {
  STAND_IN(cudnnCreate);
  *made = new Context;
  return 0;
}

int cudnnSetStream(Context* context, CUstream_st* stream) {
  context->stream = stream;
  return 0;
}

const char* cudnnGetErrorString(int status) { return status == 4000 ? "CUDNN_STATUS_INTERNAL_ERROR" : "another error"; }

int cudnnCreateTensorDescriptor(Tensor** made) { return *made = new Tensor, 0; }
int cudnnDestroyTensorDescriptor(Tensor* tensor) { return delete tensor, 0; }
int cudnnSetTensorNdDescriptor(Tensor* tensor, int type, int rank, const int* sizes, const int* steps) {
  *tensor = {type, list(sizes, rank), list(steps, rank)};
  return 0;
}

int cudnnCreateFilterDescriptor(Tensor** made) { return *made = new Tensor, 0; }
int cudnnDestroyFilterDescriptor(Tensor* filter) { return delete filter, 0; }
int cudnnSetFilterNdDescriptor(Tensor* filter, int type, int format, int rank, const int* sizes) {
  if (format != 0) return stand_in::refuse("the format of a filter", kBadParameter);
  *filter = {type, list(sizes, rank), {}};
  return 0;
}

int cudnnCreateConvolutionDescriptor(Convolution** made) { return *made = new Convolution, 0; }
int cudnnDestroyConvolutionDescriptor(Convolution* convolution) { return delete convolution, 0; }
int cudnnSetConvolutionNdDescriptor(Convolution* c, int axes, const int* before, const int* strides,
                                    const int* dilations, int mode, int type) {
  c->before = list(before, axes), c->strides = list(strides, axes), c->dilations = list(dilations, axes);
  c->mode = mode, c->type = type;
  return 0;
}
int cudnnSetConvolutionMathType(Convolution* c, int math) { return c->math = math, 0; }
int cudnnSetConvolutionGroupCount(Convolution* c, int groups) { return c->groups = groups, 0; }

int cudnnGetConvolutionForwardAlgorithm_v7(Context*, Tensor* x, Tensor* w, Convolution* c, Tensor* y, int most,
                                           int* count, Performance* to) {
  STAND_IN(cudnnGetConvolutionForwardAlgorithm_v7);
  return offer(Out, *x, *w, *y, *c, most, count, to);
}
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(Context*, Tensor* x, Tensor* y, Convolution* c, Tensor* w, int most,
                                                  int* count, Performance* to) {
  STAND_IN(cudnnGetConvolutionBackwardFilterAlgorithm_v7);
  return offer(Filter, *x, *w, *y, *c, most, count, to);
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(Context*, Tensor* w, Tensor* y, Convolution* c, Tensor* x, int most,
                                                int* count, Performance* to) {
  STAND_IN(cudnnGetConvolutionBackwardDataAlgorithm_v7);
  return offer(Image, *x, *w, *y, *c, most, count, to);
}

int cudnnConvolutionForward(Context* context, const void* alpha, Tensor* x, const void* image, Tensor* w,
                            const void* filter, Convolution* c, int algorithm, void* workspace, size_t bytes,
                            const void* beta, Tensor* y, void* out) {
  STAND_IN(cudnnConvolutionForward);
  return run(Out, context, alpha, beta, *x, image, *w, filter, *y, out, *c, algorithm, workspace, bytes);
}
int cudnnConvolutionBackwardFilter(Context* context, const void* alpha, Tensor* x, const void* image, Tensor* y,
                                   const void* out, Convolution* c, int algorithm, void* workspace, size_t bytes,
                                   const void* beta, Tensor* w, void* filter) {
  STAND_IN(cudnnConvolutionBackwardFilter);
  return run(Filter, context, alpha, beta, *x, image, *w, filter, *y, out, *c, algorithm, workspace, bytes);
}
int cudnnConvolutionBackwardData(Context* context, const void* alpha, Tensor* w, const void* filter, Tensor* y,
                                 const void* out, Convolution* c, int algorithm, void* workspace, size_t bytes,
                                 const void* beta, Tensor* x, void* image) {
  STAND_IN(cudnnConvolutionBackwardData);
  return run(Image, context, alpha, beta, *x, image, *w, filter, *y, out, *c, algorithm, workspace, bytes);
}

}  // extern "C"
