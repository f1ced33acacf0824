// hip*: initialisation, versions, errors.
#include "hip/runtime.h"

using namespace amdgpu;

namespace {

struct ErrorText {
  int code;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {0, "hipSuccess", "no error"},
#define ERROR(name, value, text) {value, "hipError" #name, text},
#include "hip/errors.def"
};

const ErrorText* find_error(int code) {
  for (const ErrorText& e : kErrors)
    if (e.code == code) return &e;
  return nullptr;
}

int report_version(int* version) {
  if (!version) return error::InvalidValue;
  *version = runtime().settings.version;
  return 0;
}

}  // namespace

HIP_EXPORT hipError_t hipInit(unsigned flags) {
  return api_always(__func__, [&] { return flags ? error::InvalidValue : need_device(); });
}
HIP_EXPORT hipError_t hipDriverGetVersion(int* version) {
  return api_always(__func__, [&] { return report_version(version); });
}
HIP_EXPORT hipError_t hipRuntimeGetVersion(int* version) {
  return api_always(__func__, [&] { return report_version(version); });
}

HIP_EXPORT const char* hipGetErrorName(hipError_t code) {
  const ErrorText* e = find_error(static_cast<int>(code));
  return e ? e->name : "hipErrorUnknown";
}
HIP_EXPORT const char* hipGetErrorString(hipError_t code) {
  const ErrorText* e = find_error(static_cast<int>(code));
  return e ? e->text : "unknown error";
}
HIP_EXPORT hipError_t hipDrvGetErrorName(hipError_t code, const char** name) {
  if (!name) return static_cast<hipError_t>(error::InvalidValue);
  *name = hipGetErrorName(code);
  return static_cast<hipError_t>(0);
}
HIP_EXPORT hipError_t hipDrvGetErrorString(hipError_t code, const char** text) {
  if (!text) return static_cast<hipError_t>(error::InvalidValue);
  *text = hipGetErrorString(code);
  return static_cast<hipError_t>(0);
}

HIP_EXPORT hipError_t hipGetLastError() {
  const int last = thread_state.last_error;
  thread_state.last_error = 0;
  return static_cast<hipError_t>(last);
}
HIP_EXPORT hipError_t hipExtGetLastError() { return hipGetLastError(); }
HIP_EXPORT hipError_t hipPeekAtLastError() { return static_cast<hipError_t>(thread_state.last_error); }
