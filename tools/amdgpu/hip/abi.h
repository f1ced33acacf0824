// Facts of the HIP ABI: handle types, enumerators, structure offsets. hipDeviceProp_t has two layouts, that of ROCm 5
// ("R0000") and that of ROCm 6 and 7 ("R0600"). The numbers are in the .def tables beside this file;
// tests/abi/check.cpp compares them and all exported prototypes with installed HIP headers.
#pragma once
#include <cstddef>
#include <cstdint>

#ifdef AMDGPU_ABI_CHECK
#include <hip/hip_runtime_api.h>
#undef hipGetDeviceProperties
#undef hipDeviceProp_t
#undef hipChooseDevice
using PropertiesPointer = struct hipDeviceProp_tR0600*;
#else
extern "C" {
typedef int hipError_t;
typedef int hipDevice_t;
typedef void* hipDeviceptr_t;
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef struct ihipGraph* hipGraph_t;
typedef struct hipGraphExec* hipGraphExec_t;
typedef struct hipGraphNode* hipGraphNode_t;
typedef struct ihipMemPoolHandle_t* hipMemPool_t;
typedef int hipMemcpyKind, hipDeviceAttribute_t, hipFunction_attribute, hipFuncAttribute, hipStreamCaptureMode,
    hipStreamCaptureStatus;
typedef int hipJitOption, hipMemPoolAttr, hipFuncCache_t, hipGraphNodeType;
enum hipLimit_t : int;
typedef void (*hipStreamCallback_t)(hipStream_t, hipError_t, void*);
typedef void (*hipHostFn_t)(void*);
struct hipPointerAttribute_t {
  int type, device;
  void *devicePointer, *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};
struct hipUUID {
  char bytes[16];
};
}
using PropertiesPointer = void*;
#endif

namespace amdgpu {

/// Device attributes by their HIP name without the common prefix.
namespace attribute {
#define ATTRIBUTE(name, value) constexpr int name = value;
#define ATTRIBUTE6(name, value) constexpr int name = value;
#include "hip/attributes.def"
}  // namespace attribute

/// Errors by their HIP name without "hipError".
namespace error {
#define ERROR(name, value, text) constexpr int name = value;
#include "hip/errors.def"
}  // namespace error

/// Offsets of hipDeviceProp_t's members in both layouts; -1 where a layout has no such member.
struct PropertyOffset {
  int rocm6, rocm5;
};
namespace property {
#define PROPERTY(name, rocm6, rocm5) constexpr PropertyOffset name{rocm6, rocm5};
#include "hip/properties.def"
}  // namespace property
constexpr size_t kPropertiesSize6 = 1472, kPropertiesSize5 = 792;

}  // namespace amdgpu
