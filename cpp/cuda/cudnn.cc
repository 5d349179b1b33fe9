// Loads cuDNN 9. Uses only algorithms that sum products in full precision and in a fixed order. FFT and Winograd
// algorithms are excluded: they lose precision and spread a NaN to pixels whose windows do not contain it.
#include "cuda/cudnn.h"

#include "core/error.h"
#include "cuda/copy.h"
#include "cuda/per_stream.h"
#include "cuda/runtime_api.h"
#include "cuda/vendor_library.h"
#include "cuda/workspace.h"

namespace paddle_mini {
namespace {

using Handle = struct cudnnContext*;
using Descriptor = void*;  // opaque pointer to a tensor, filter or convolution descriptor
enum Math { kDefault = 0, kFma = 3 };
constexpr int kRowMajor = 0, kCrossCorrelation = 1, kDeterministic = 1;

struct Performance {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
};

// The three functions differ only in the meaning of a, b and c.
struct Direction {
  int (*choose)(Handle, Descriptor a, Descriptor b, Descriptor convolution, Descriptor c, int, int*,
                Performance*) = nullptr;
  int (*run)(Handle, const void* alpha, Descriptor a, const void*, Descriptor b, const void*, Descriptor convolution,
             int algorithm, void* workspace, size_t, const void* beta, Descriptor c, void*) = nullptr;
  int last_product = 0;  // algorithms 0 to last_product sum products
};

struct Library {
  std::string description;
  int (*create)(Handle*) = nullptr;
  int (*set_stream)(Handle, cudaStream_t) = nullptr;
  const char* (*text_of)(int) = nullptr;
  int (*create_tensor)(Descriptor*) = nullptr;
  int (*set_tensor)(Descriptor, int type, int rank, const int* sizes, const int* steps) = nullptr;
  int (*destroy_tensor)(Descriptor) = nullptr;
  int (*create_filter)(Descriptor*) = nullptr;
  int (*set_filter)(Descriptor, int type, int format, int rank, const int* sizes) = nullptr;
  int (*destroy_filter)(Descriptor) = nullptr;
  int (*create_convolution)(Descriptor*) = nullptr;
  int (*set_convolution)(Descriptor, int axes, const int* before, const int* strides, const int* dilations, int mode,
                         int type) = nullptr;
  int (*set_math)(Descriptor, int math) = nullptr;
  int (*set_groups)(Descriptor, int groups) = nullptr;
  int (*destroy_convolution)(Descriptor) = nullptr;
  Direction forward{}, to_filter{}, to_image{};
};

Library load() {
  VendorLibrary vendor("cuDNN", "PM_CUDNN", "libcudnn.so.9", "nvidia/cudnn/lib");
  Library library{vendor.description()};
  if (!vendor.found()) return library;
  vendor.find("cudnnCreate", library.create);
  vendor.find("cudnnSetStream", library.set_stream);
  vendor.find("cudnnGetErrorString", library.text_of);
  vendor.find("cudnnCreateTensorDescriptor", library.create_tensor);
  vendor.find("cudnnSetTensorNdDescriptor", library.set_tensor);
  vendor.find("cudnnDestroyTensorDescriptor", library.destroy_tensor);
  vendor.find("cudnnCreateFilterDescriptor", library.create_filter);
  vendor.find("cudnnSetFilterNdDescriptor", library.set_filter);
  vendor.find("cudnnDestroyFilterDescriptor", library.destroy_filter);
  vendor.find("cudnnCreateConvolutionDescriptor", library.create_convolution);
  vendor.find("cudnnSetConvolutionNdDescriptor", library.set_convolution);
  vendor.find("cudnnSetConvolutionMathType", library.set_math);
  vendor.find("cudnnSetConvolutionGroupCount", library.set_groups);
  vendor.find("cudnnDestroyConvolutionDescriptor", library.destroy_convolution);
  vendor.find("cudnnGetConvolutionForwardAlgorithm_v7", library.forward.choose);
  vendor.find("cudnnConvolutionForward", library.forward.run);
  vendor.find("cudnnGetConvolutionBackwardFilterAlgorithm_v7", library.to_filter.choose);
  vendor.find("cudnnConvolutionBackwardFilter", library.to_filter.run);
  vendor.find("cudnnGetConvolutionBackwardDataAlgorithm_v7", library.to_image.choose);
  vendor.find("cudnnConvolutionBackwardData", library.to_image.run);
  library.forward.last_product = 3;  // implicit GEMM, precomputed implicit GEMM, GEMM, direct
  library.to_filter.last_product = library.to_image.last_product = 1;
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check(int status, const char* what) {
  require<DeviceError>(status == 0, "cuDNN failed (", what, "): ", status == 0 ? "" : library().text_of(status));
}

// Whether cuDNN rejected its arguments as bad (2000 and up) or not supported (3000 and up), without any effect.
bool refused(int status) { return status >= 2000 && status < 4000; }

Handle handle_of(const KernelContext& context) {
  static PerStream<Handle>& handles = *new PerStream<Handle>;
  return handles.of(context.stream, [&] {
    Handle made = nullptr;
    check(library().create(&made), "starting");
    check(library().set_stream(made, static_cast<cudaStream_t>(context.stream)), "choosing a stream");
    return made;
  });
}

// cuDNN's interface uses int for sizes.
bool small(std::initializer_list<int64_t> sizes) {
  int64_t all = 1;
  for (int64_t size : sizes) {
    if (size <= 0 || size > INT32_MAX / all) return false;
    all *= size;
  }
  return true;
}

// cuDNN has one padding for both ends of an axis and derives the result's size from it.
bool can(const ConvolvedShape& s) {
  int64_t pixels = 1, results = 1, taps = 1;
  for (const ConvolvedAxis& axis : s.axes) {
    bool fits = axis.before >= 0 && small({axis.in + 2 * axis.before}) && small({axis.window, axis.dilation}) &&
                small({axis.stride}) && small({pixels, axis.in}) && small({results, axis.out}) &&
                small({taps, axis.window});
    if (!fits) return false;
    int64_t room = axis.in + 2 * axis.before - axis.dilation * (axis.window - 1) - 1;
    if (room < 0 || room / axis.stride + 1 != axis.out) return false;
    pixels *= axis.in, results *= axis.out, taps *= axis.window;
  }
  return small({s.images, s.groups, s.in_channels, pixels}) && small({s.images, s.groups, s.out_channels, results}) &&
         small({s.groups, s.out_channels, s.in_channels, taps});
}

}  // namespace

// The descriptors, and the algorithm of each direction once it is chosen.
struct CudnnConvolution::Made {
  struct Algorithm {
    bool chosen = false;
    int number = -1;  // -1: none
    size_t memory = 0;
  };

  using Owned = std::unique_ptr<void, int (*)(Descriptor)>;

  int type;
  Owned image, filter, out, convolution;
  Algorithm forward, to_filter, to_image;

  Made(DType dtype, const ConvolvedShape& s)
      : type(dtype == DType::Float64), image(tensor(s, s.in_channels, false)),
        filter(made(library().create_filter, library().destroy_filter)), out(tensor(s, s.out_channels, true)),
        convolution(made(library().create_convolution, library().destroy_convolution)) {
    std::vector<int> filters{number(s.groups * s.out_channels), number(s.in_channels)}, before, strides, dilations;
    for (const ConvolvedAxis& axis : s.axes) {
      filters.push_back(number(axis.window));
      before.push_back(number(axis.before));
      strides.push_back(number(axis.stride));
      dilations.push_back(number(axis.dilation));
    }
    check(library().set_filter(filter.get(), type, kRowMajor, number(filters.size()), filters.data()),
          "describing a filter");
    check(library().set_convolution(convolution.get(), number(before.size()), before.data(), strides.data(),
                                    dilations.data(), kCrossCorrelation, type),
          "describing a convolution");
    check(library().set_math(convolution.get(), kFma), "asking for full precision");
    check(library().set_groups(convolution.get(), number(s.groups)), "describing groups");
  }

  template <class I>
  static int number(I value) {
    return static_cast<int>(value);
  }

  static Owned made(int (*create)(Descriptor*), int (*destroy)(Descriptor)) {
    Descriptor descriptor = nullptr;
    check(create(&descriptor), "making a descriptor");
    return {descriptor, destroy};
  }

  Owned tensor(const ConvolvedShape& s, int64_t channels, bool of_result) const {
    std::vector<int> sizes{number(s.images), number(s.groups * channels)};
    for (const ConvolvedAxis& axis : s.axes) sizes.push_back(number(of_result ? axis.out : axis.in));
    std::vector<int> steps(sizes.size());
    int step = s.channels_last ? sizes[1] : 1;
    for (size_t d = sizes.size() - 1; d > 1; step *= sizes[d--]) steps[d] = step;
    steps[1] = s.channels_last ? 1 : step;
    steps[0] = s.channels_last ? step : step * sizes[1];
    Owned descriptor = made(library().create_tensor, library().destroy_tensor);
    check(library().set_tensor(descriptor.get(), type, number(sizes.size()), sizes.data(), steps.data()),
          "describing a tensor");
    return descriptor;
  }

  // Called once, before launches are recorded, since it may allocate memory and synchronize.
  static void choose(KernelContext& context, const Direction& direction, Algorithm& algorithm, Descriptor a,
                     Descriptor b, Descriptor convolution, Descriptor c) {
    require_not_recorded(context);
    constexpr int kMost = 16;
    Performance found[kMost];
    int count = 0;
    int status = direction.choose(handle_of(context), a, b, convolution, c, kMost, &count, found);
    if (!refused(status)) check(status, "choosing an algorithm");
    algorithm.chosen = true;
    for (int i = 0; status == 0 && i < count && algorithm.number < 0; ++i) {
      const Performance& one = found[i];
      bool good = one.status == 0 && one.determinism == kDeterministic && (one.math == kFma || one.math == kDefault);
      if (!good || one.algorithm > direction.last_product || one.memory > kWorkspace) continue;
      algorithm.number = one.algorithm;
      algorithm.memory = one.memory;
    }
  }

  bool run(KernelContext& context, const Direction& direction, Algorithm& algorithm, const Owned& of_a, const void* a,
           const Owned& of_b, const void* b, const Owned& of_c, void* c) {
    if (!algorithm.chosen) choose(context, direction, algorithm, of_a.get(), of_b.get(), convolution.get(), of_c.get());
    if (algorithm.number < 0) return false;
    context.launch_pending();
    const float factors[] = {1, 0};
    const double wide_factors[] = {1, 0};
    const void* alpha = type ? static_cast<const void*>(&wide_factors[0]) : &factors[0];
    const void* beta = type ? static_cast<const void*>(&wide_factors[1]) : &factors[1];
    void* memory = algorithm.memory ? workspace(context) : nullptr;
    int status = direction.run(handle_of(context), alpha, of_a.get(), a, of_b.get(), b, convolution.get(),
                               algorithm.number, memory, algorithm.memory, beta, of_c.get(), c);
    if (refused(status)) {
      algorithm.number = -1;
      return false;
    }
    check(status, "convolving");
    return true;
  }
};

CudnnConvolution::CudnnConvolution(DType dtype, const ConvolvedShape& shape)
    : made_(library().create && can(shape) ? std::make_unique<Made>(dtype, shape) : nullptr) {}

CudnnConvolution::~CudnnConvolution() = default;

bool CudnnConvolution::run(KernelContext& context, const void* image, const void* filter, void* out) {
  return made_ && made_->run(context, library().forward, made_->forward, made_->image, image, made_->filter, filter,
                             made_->out, out);
}

bool CudnnConvolution::filter_gradient(KernelContext& context, const void* image, const void* out_gradient,
                                       void* filter_gradient) {
  return made_ && made_->run(context, library().to_filter, made_->to_filter, made_->image, image, made_->out,
                             out_gradient, made_->filter, filter_gradient);
}

bool CudnnConvolution::input_gradient(KernelContext& context, const void* filter, const void* out_gradient,
                                      void* image_gradient) {
  return made_ && made_->run(context, library().to_image, made_->to_image, made_->filter, filter, made_->out,
                             out_gradient, made_->image, image_gradient);
}

std::string cudnn_description() { return library().description; }

}  // namespace paddle_mini
