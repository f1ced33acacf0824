// What HIP and CUDA share: one Device over the calls of native.def, so that what a test on one card shows holds for
// both.
#pragma once
#include <string>

#include "gpu/driver.h"
#include "gpu/library.h"

namespace hf::gpu {

/// One call of the runtime and its name there, for messages. Null if an optional one is missing.
template <class Return, class... Parameters>
struct NativeCall {
  const char* symbol = nullptr;
  Return (*function)(Parameters...) = nullptr;
};
template <class Signature>
struct NativeCallOf;
template <class Return, class... Parameters>
struct NativeCallOf<Return(Parameters...)> {
  using Type = NativeCall<Return, Parameters...>;
};

enum class Need { Required, Optional };

/// Looks the call up in the library. Throws Driver if it is required and missing.
template <class Return, class... Parameters>
void bind(NativeCall<Return, Parameters...>& call, const Library& library, const char* symbol, Need need) {
  call.symbol = symbol;
  void* found = need == Need::Required ? library.get(symbol) : library.find(symbol);
  call.function = reinterpret_cast<Return (*)(Parameters...)>(found);
}

/// A runtime's functions, bound, and the few things that it does in a way of its own.
class NativeApi {
 public:
  explicit NativeApi(const Library& library) : library(library) {}
  virtual ~NativeApi() = default;
  /// Makes the device the calling thread's current one.
  virtual void make_current(int device) const = 0;
  /// "hipErrorInvalidValue (invalid argument)"
  virtual std::string error_text(int status) const = 0;
  /// Called for each function that is looked up: lets it use all of the device's LDS.
  virtual void allow_all_lds(FunctionHandle, const DeviceInfo&) const {}

  Library library;
#define NATIVE(member, hip, cuda, need, ...) NativeCallOf<int(__VA_ARGS__)>::Type member;
#include "gpu/native.def"
#undef NATIVE
};

/// Throws unless the status is 0: OutOfMemory for 2, which both runtimes call so, else Driver.
void check_status(const NativeApi& api, const char* symbol, int status);

/// Calls and checks; Unsupported if the call is an optional one that this runtime lacks.
template <class Return, class... Parameters, class... Args>
void invoke(const NativeApi& api, const NativeCall<Return, Parameters...>& call, Args... args) {
  if (!call.function) check_status(api, call.symbol, -1);
  check_status(api, call.symbol, call.function(args...));
}

/// `api` must outlive the device.
std::shared_ptr<Device> make_native_device(const NativeApi& api, int index, DeviceInfo info);

/// Devices of the runtime; 0 where it reports that there are none (status 100 of both).
int native_device_count(const NativeApi& api);
/// "0000:c1:00.0", or empty.
std::string native_pci_id(const NativeApi& api, int index);

}  // namespace hf::gpu
