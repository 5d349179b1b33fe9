// Loads cuBLAS, whose interface has been stable since CUDA 6.
#include "cuda/cublas.h"

#include "core/error.h"
#include "cuda/per_stream.h"
#include "cuda/runtime_api.h"
#include "cuda/vendor_library.h"
#include "cuda/workspace.h"

namespace paddle_mini {
namespace {

using Handle = struct cublasContext*;
template <class T>
using GemmFunction = int (*)(Handle, int, int, int, int, int, const T*, const T*, int, long long, const T*, int,
                             long long, const T*, T*, int, long long, int);

struct Library {
  std::string description;
  int (*create)(Handle*) = nullptr;
  int (*set_stream)(Handle, cudaStream_t) = nullptr;
  int (*set_workspace)(Handle, void*, size_t) = nullptr;
  GemmFunction<float> sgemm = nullptr;
  GemmFunction<double> dgemm = nullptr;
};

Library load() {
  VendorLibrary vendor("cuBLAS", "PM_CUBLAS", "libcublas.so.13", "nvidia/cu13/lib");
  Library library{vendor.description()};
  if (!vendor.found()) return library;
  vendor.find("cublasCreate_v2", library.create);
  vendor.find("cublasSetStream_v2", library.set_stream);
  vendor.find("cublasSetWorkspace_v2", library.set_workspace);
  vendor.find("cublasSgemmStridedBatched", library.sgemm);
  vendor.find("cublasDgemmStridedBatched", library.dgemm);
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check(int status, const char* what) {
  require<DeviceError>(status == 0, "cuBLAS failed (", what, "), status ", status);
}

// The products of one stream run one after the other, so with our own workspace they give the same bits every time.
Handle handle_of(const KernelContext& context) {
  static PerStream<Handle>& handles = *new PerStream<Handle>;
  return handles.of(context.stream, [&] {
    Handle made = nullptr;
    check(library().create(&made), "starting");
    check(library().set_stream(made, static_cast<cudaStream_t>(context.stream)), "choosing a stream");
    check(library().set_workspace(made, workspace(context), kWorkspace), "giving it memory");
    return made;
  });
}

}  // namespace

template <class T>
bool run_by_cublas(KernelContext& context, const MatrixProducts<T>& p) {
  bool fits = true;
  for (int64_t size : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.count}) fits = fits && size > 0 && size <= INT32_MAX;
  if (!fits || !library().create) return false;
  context.launch_pending();
  auto small = [](int64_t size) { return static_cast<int>(size); };
  GemmFunction<T> gemm;
  if constexpr (sizeof(T) == 4) gemm = library().sgemm;
  else gemm = library().dgemm;
  // cuBLAS is column-major: it computes C' = op(B)' op(A)'.
  check(gemm(handle_of(context), p.transpose_b, p.transpose_a, small(p.n), small(p.m), small(p.k), &p.alpha, p.b,
             small(p.ldb), p.step_b, p.a, small(p.lda), p.step_a, &p.beta, p.c, small(p.ldc), p.step_c, small(p.count)),
        "multiplying");
  return true;
}

template bool run_by_cublas<float>(KernelContext&, const MatrixProducts<float>&);
template bool run_by_cublas<double>(KernelContext&, const MatrixProducts<double>&);

std::string cublas_description() { return library().description; }

}  // namespace paddle_mini
