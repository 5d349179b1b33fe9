// Loads NCCL 2.
#include "cuda/nccl_library.h"

#include "core/error.h"
#include "cuda/vendor_library.h"

namespace paddle_mini {
namespace {

NcclLibrary load() {
  VendorLibrary vendor("NCCL", "PM_NCCL", "libnccl.so.2", "nvidia/nccl/lib");
  NcclLibrary library{vendor.description()};
  if (!vendor.found()) return library;
  vendor.find("ncclCommInitAll", library.init_all);
  vendor.find("ncclGroupStart", library.group_start);
  vendor.find("ncclGroupEnd", library.group_end);
  vendor.find("ncclAllReduce", library.all_reduce);
  vendor.find("ncclCommAbort", library.comm_abort);
  vendor.find("ncclGetErrorString", library.text_of);
  if (!vendor.has("ncclCommInitRankConfig")) return library;
  vendor.find("ncclCommInitRankConfig", library.init_rank);
  vendor.find("ncclGetUniqueId", library.get_id);
  vendor.find("ncclCommGetAsyncError", library.async_error);
  vendor.find("ncclGetVersion", library.get_version);
  return library;
}

}  // namespace

const NcclLibrary& nccl() {
  static const NcclLibrary loaded = load();
  return loaded;
}

void check_nccl(int status, const char* what) {
  require<DeviceError>(status == kNcclSuccess, "NCCL failed (", what,
                       "): ", status == kNcclSuccess ? "" : nccl().text_of(status));
}

int nccl_type(DType dtype) {
  switch (dtype) {
    case DType::Int32: return 2;
    case DType::Int64: return 4;
    case DType::Float16: return 6;
    case DType::Float32: return 7;
    case DType::Float64: return 8;
    case DType::BFloat16: return 9;
    default: fail<DeviceError>("NCCL can't add up ", name_of(dtype));
  }
}

}  // namespace paddle_mini
