// The structs of the DLPack protocol (https://dmlc.github.io/dlpack), by which libraries share tensors: their layout is
// its binary interface.
#pragma once

#include <cstdint>

namespace paddle_mini::python {

// Values of DLDevice::type whose memory the CPU reads like its own.
enum : int32_t { kDLCPU = 1, kDLCUDAHost = 3, kDLROCMHost = 11 };
// Values of DLDataType::code.
enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

struct DLDevice {
  int32_t type, id;
};

struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t rank;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; nullptr: C order without gaps
  uint64_t byte_offset;
};

// The content of a capsule named "dltensor". Its consumer renames the capsule, and calls the deleter when it is done.
struct DLManagedTensor {
  static constexpr const char *kName = "dltensor", *kUsedName = "used_dltensor";
  DLTensor tensor;
  void* owner;
  void (*deleter)(DLManagedTensor*);
  bool writable() const { return false; }  // it does not say
};

// The same from version 1.0 on.
struct DLManagedTensorVersioned {
  static constexpr const char *kName = "dltensor_versioned", *kUsedName = "used_dltensor_versioned";
  uint32_t major, minor;
  void* owner;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;  // bit 0: read-only
  DLTensor tensor;
  bool writable() const { return (flags & 1) == 0; }
};

}  // namespace paddle_mini::python
