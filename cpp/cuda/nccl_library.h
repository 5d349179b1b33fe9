// The functions of NVIDIA's NCCL, for nccl.cc and nccl_clique.cc.
#pragma once

#include <string>

#include "core/dtype.h"
#include "cuda/runtime_api.h"

namespace paddle_mini {

using NcclMember = struct ncclComm*;  // the rank of one GPU in a communicator

// Values of ncclResult_t and ncclRedOp_t.
constexpr int kNcclSuccess = 0, kNcclInProgress = 7, kNcclSum = 0;

struct NcclId {  // ncclUniqueId
  char bytes[128];
};

// The first version of ncclConfig_t, that of NCCL 2.14; later libraries take it too.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 0;
};

struct NcclLibrary {
  std::string description;
  int (*init_all)(NcclMember*, int, const int*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, size_t, int, int, NcclMember, cudaStream_t) = nullptr;
  int (*comm_abort)(NcclMember) = nullptr;
  const char* (*text_of)(int) = nullptr;
  // For cliques of processes; nullptr before NCCL 2.14, of which a process whose peer is missing waits for ever.
  int (*init_rank)(NcclMember*, int, NcclId, int, NcclConfig*) = nullptr;
  int (*get_id)(NcclId*) = nullptr;
  int (*async_error)(NcclMember, int*) = nullptr;
  int (*get_version)(int*) = nullptr;
};

// Loaded by the first call; without the library, it has no functions.
const NcclLibrary& nccl();
void check_nccl(int status, const char* what);  // DeviceError unless it is kNcclSuccess
int nccl_type(DType dtype);                     // DeviceError for a type that NCCL can't add up

// Restores the caller's current device, which NCCL changes.
class SameDevice {
 public:
  SameDevice() { cudaGetDevice(&device_); }
  ~SameDevice() { cudaSetDevice(device_); }

 private:
  int device_ = 0;
};

}  // namespace paddle_mini
