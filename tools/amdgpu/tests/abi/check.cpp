// Compares the numbers of hip/abi.h and its tables with installed HIP headers, at compile time. The prototypes are
// compared by compiling hip/*.cpp with AMDGPU_ABI_CHECK, where a different one is an error.
#define __HIP_PLATFORM_HCC__  // older headers
#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "hip/abi.h"

namespace {

#if HIP_VERSION_MAJOR >= 6
using Properties = hipDeviceProp_tR0600;
#define OFFSET(rocm6, rocm5) rocm6
constexpr size_t kSize = amdgpu::kPropertiesSize6;
#define MEMORY_TYPE type
static_assert(hipMemoryTypeUnregistered == 0 && hipMemoryTypeHost == 1 && hipMemoryTypeDevice == 2 &&
              hipMemoryTypeManaged == 3);
#else
using Properties = hipDeviceProp_t;
#define OFFSET(rocm6, rocm5) rocm5
constexpr size_t kSize = amdgpu::kPropertiesSize5;
#define MEMORY_TYPE memoryType
static_assert(hipMemoryTypeHost == 0 && hipMemoryTypeDevice == 1);
#endif

// A member that a layout does not have is not looked at.
template <class P>
constexpr bool check_properties() {
#define PROPERTY(name, rocm6, rocm5)                                 \
  if constexpr (OFFSET(rocm6, rocm5) >= 0 && requires { &P::name; }) \
    static_assert(offsetof(P, name) == OFFSET(rocm6, rocm5), #name);
#include "hip/properties.def"
  return sizeof(P) == kSize;
}
static_assert(check_properties<Properties>());

#define ATTRIBUTE(name, value) static_assert(hipDeviceAttribute##name == value, #name);
#if HIP_VERSION_MAJOR >= 6
#define ATTRIBUTE6(name, value) static_assert(hipDeviceAttribute##name == value, #name);
#else
#define ATTRIBUTE6(name, value)
#endif
#include "hip/attributes.def"

#define ERROR(name, value, text) static_assert(hipError##name == value, #name);
#include "hip/errors.def"

using Pointer = hipPointerAttribute_t;
static_assert(sizeof(Pointer) == 32 && offsetof(Pointer, MEMORY_TYPE) == 0 && offsetof(Pointer, device) == 4 &&
              offsetof(Pointer, devicePointer) == 8 && offsetof(Pointer, hostPointer) == 16 &&
              offsetof(Pointer, isManaged) == 24 && offsetof(Pointer, allocationFlags) == 28);
static_assert(hipMemcpyHostToHost == 0 && hipMemcpyHostToDevice == 1 && hipMemcpyDeviceToHost == 2 &&
              hipMemcpyDeviceToDevice == 3 && hipMemcpyDefault == 4);
static_assert(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK == 0 && HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES == 1 &&
              HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES == 3 && HIP_FUNC_ATTRIBUTE_NUM_REGS == 4 &&
              HIP_FUNC_ATTRIBUTE_BINARY_VERSION == 6 && HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8 &&
              hipFuncAttributeMaxDynamicSharedMemorySize == 8);
static_assert(hipStreamCaptureModeGlobal == 0 && hipStreamCaptureModeThreadLocal == 1 &&
              hipStreamCaptureModeRelaxed == 2 && hipStreamCaptureStatusActive == 1 &&
              hipStreamCaptureStatusInvalidated == 2);
static_assert(hipEventDisableTiming == 2 && hipStreamNonBlocking == 1);

// HIP_LAUNCH_PARAM_* are casts to void*, which are no constant expressions: their text is looked at.
constexpr bool ends_with(const char* s, char c) {
  char last = 0;
  for (; *s; s++)
    if (*s != ')') last = *s;
  return last == c;
}
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
static_assert(ends_with(TEXT(HIP_LAUNCH_PARAM_BUFFER_POINTER), '1') &&
              ends_with(TEXT(HIP_LAUNCH_PARAM_BUFFER_SIZE), '2') && ends_with(TEXT(HIP_LAUNCH_PARAM_END), '3'));

}  // namespace
