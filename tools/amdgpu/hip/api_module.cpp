// hip*: modules, functions, launches, occupancy.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "device/launch.h"
#include "device/support.h"
#include "hip/launch_call.h"

using namespace amdgpu;

HIP_EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);

namespace {

int load(hipModule_t* handle, const void* image, size_t bytes) {
  HIP_TRY(need_device());
  if (!handle || !image) return error::InvalidValue;
  std::unique_ptr<Module> module;
  std::string message;
  if (const int status = load_module(thread_state.device, image, bytes, module, message)) {
    log("module load: %s", message.c_str());
    return status;
  }
  auto* h = new ModuleHandle{std::move(module)};
  runtime().modules.insert(h);
  *handle = reinterpret_cast<hipModule_t>(h);
  return 0;
}

bool read_file(const char* path, std::vector<uint8_t>& bytes, int& status) {
  status = error::FileNotFound;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat info;
  if (!fstat(file, &info)) bytes.resize(static_cast<size_t>(info.st_size));
  size_t got = 0;
  ssize_t n;
  while (got < bytes.size() && (n = read(file, bytes.data() + got, bytes.size() - got)) > 0)
    got += static_cast<size_t>(n);
  close(file);
  status = error::InvalidImage;
  constexpr size_t kSmallest = 64;
  return got >= kSmallest && got == bytes.size();
}

int find_module(hipModule_t handle, ModuleHandle*& module) {
  module = reinterpret_cast<ModuleHandle*>(handle);
  return module && runtime().modules.count(module) ? 0 : error::InvalidHandle;
}

}  // namespace

HIP_EXPORT hipError_t hipModuleLoad(hipModule_t* handle, const char* path) {
  return api(__func__, [&] {
    if (!path) return error::InvalidValue;
    std::vector<uint8_t> bytes;
    int status;
    return read_file(path, bytes, status) ? load(handle, bytes.data(), bytes.size()) : status;
  });
}
HIP_EXPORT hipError_t hipModuleLoadData(hipModule_t* handle, const void* image) {
  return api(__func__, [&] { return load(handle, image, 0); });
}
HIP_EXPORT hipError_t hipModuleLoadDataEx(hipModule_t* handle, const void* image, unsigned, hipJitOption*, void**) {
  return api(__func__, [&] { return load(handle, image, 0); });
}

HIP_EXPORT hipError_t hipModuleUnload(hipModule_t handle) {
  return api_always(__func__, [&] {
    ModuleHandle* module;
    HIP_TRY(find_module(handle, module));
    drain_all();
    auto& functions = runtime().functions;
    for (auto it = functions.begin(); it != functions.end();)
      it = it->second->module == module->module ? functions.erase(it) : std::next(it);
    runtime().modules.erase(module);
    delete module;
    return 0;
  });
}

HIP_EXPORT hipError_t hipModuleGetFunction(hipFunction_t* handle, hipModule_t module_handle, const char* name) {
  return api(__func__, [&] {
    if (!handle || !name || !*name) return error::InvalidValue;
    ModuleHandle* module;
    HIP_TRY(find_module(module_handle, module));
    auto found = module->module->kernels.find(name);
    if (found == module->module->kernels.end()) return error::NotFound;
    Kernel* kernel = found->second.get();
    auto& functions = runtime().functions;
    auto known =
        std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.second->kernel == kernel; });
    FunctionHandle* f = known == functions.end() ? nullptr : known->first;
    if (!f) {
      auto made = std::make_unique<FunctionHandle>(FunctionHandle{kernel, module->module});
      f = made.get();
      functions[f] = std::move(made);
    }
    *handle = reinterpret_cast<hipFunction_t>(f);
    return 0;
  });
}

HIP_EXPORT hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* bytes, hipModule_t handle, const char* name) {
  return api(__func__, [&] {
    if ((!pointer && !bytes) || !name || !*name) return error::InvalidValue;
    ModuleHandle* module;
    HIP_TRY(find_module(handle, module));
    auto found = module->module->symbols.find(name);
    if (found == module->module->symbols.end()) return error::NotFound;
    if (pointer) *pointer = reinterpret_cast<hipDeviceptr_t>(found->second.first);
    if (bytes) *bytes = found->second.second;
    return 0;
  });
}

// ---- launches

HIP_EXPORT hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_lds,
                                            hipStream_t stream, void** parameters, void** extra) {
  return api(__func__, [&] {
    return launch({.who = "hipModuleLaunchKernel",
                   .function = function,
                   .grid = {grid_x, grid_y, grid_z},
                   .block = {block_x, block_y, block_z},
                   .dynamic_lds = dynamic_lds,
                   .stream = stream,
                   .parameters = parameters,
                   .extra = extra});
  });
}

// The sizes are in work-items, of whole blocks only.
HIP_EXPORT hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t items_x, uint32_t items_y,
                                               uint32_t items_z, uint32_t block_x, uint32_t block_y, uint32_t block_z,
                                               size_t dynamic_lds, hipStream_t stream, void** parameters, void** extra,
                                               hipEvent_t start, hipEvent_t stop, uint32_t) {
  return api(__func__, [&] {
    if (!block_x || !block_y || !block_z || items_x % block_x || items_y % block_y || items_z % block_z)
      return error::InvalidValue;
    if (start) HIP_TRY(static_cast<int>(hipEventRecord(start, stream)));
    HIP_TRY(launch({.who = "hipExtModuleLaunchKernel",
                    .function = function,
                    .grid = {items_x / block_x, items_y / block_y, items_z / block_z},
                    .block = {block_x, block_y, block_z},
                    .dynamic_lds = dynamic_lds,
                    .stream = stream,
                    .parameters = parameters,
                    .extra = extra}));
    return stop ? static_cast<int>(hipEventRecord(stop, stream)) : 0;
  });
}

HIP_EXPORT hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                                                       unsigned, unsigned, hipStream_t, void**) {
  return api(__func__, [] {
    log("cooperative launches are not supported: workgroups run one after the other");
    return error::NotSupported;
  });
}

// ---- functions

HIP_EXPORT hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t handle) {
  return api(__func__, [&] {
    if (!value) return error::InvalidValue;
    FunctionHandle* function;
    HIP_TRY(find_function(handle, function));
    const Kernel& k = *function->kernel;
    const Arch& a = *devices()[k.module->device].arch;
    const int version = a.major() * 10 + a.minor();
    const int values[] = {
        static_cast<int>(k.max_block),              // HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        static_cast<int>(k.lds_bytes),              // SHARED_SIZE_BYTES
        0,                                          // CONST_SIZE_BYTES
        static_cast<int>(k.scratch_bytes),          // LOCAL_SIZE_BYTES
        static_cast<int>(k.vgprs),                  // NUM_REGS
        version,                                    // PTX_VERSION
        version,                                    // BINARY_VERSION
        0,                                          // CACHE_MODE_CA
        static_cast<int>(kLdsBytes - k.lds_bytes),  // MAX_DYNAMIC_SHARED_SIZE_BYTES
        0,                                          // PREFERRED_SHARED_MEMORY_CARVEOUT
    };
    const auto index = static_cast<size_t>(attribute);
    if (index >= std::size(values)) return error::InvalidValue;
    *value = values[index];
    return 0;
  });
}

// Before ROCm 7 only host function pointers are accepted here, of which this library has none.
HIP_EXPORT hipError_t hipFuncSetAttribute(const void* pointer, hipFuncAttribute attribute, int value) {
  constexpr int kMaxDynamicLds = 8, kCarveout = 9;
  return api(__func__, [&] {
    FunctionHandle* function;
    auto handle = reinterpret_cast<hipFunction_t>(const_cast<void*>(pointer));
    if (find_function(handle, function) || runtime().settings.major() < 7) return error::InvalidDeviceFunction;
    const int number = static_cast<int>(attribute);
    const int limit = static_cast<int>(kLdsBytes - function->kernel->lds_bytes);
    const bool valid =
        number == kMaxDynamicLds ? value >= 0 && value <= limit : number == kCarveout && value >= -1 && value <= 100;
    return valid ? 0 : error::InvalidValue;
  });
}

// ---- occupancy

namespace {

hipError_t max_active_blocks(const char* name, int* blocks, hipFunction_t handle, int block, size_t dynamic_lds,
                             unsigned flags) {
  return api(name, [&] {
    if (flags > 1 || !blocks) return error::InvalidValue;
    FunctionHandle* function;
    HIP_TRY(find_function(handle, function));
    if (block <= 0) return error::InvalidValue;
    *blocks = occupancy(*function->kernel, block, dynamic_lds);
    return 0;
  });
}

// The block that keeps most threads on a multiprocessor, and the blocks that fill the device.
hipError_t best_block(const char* name, int* grid, int* block, hipFunction_t handle, size_t dynamic_lds, int limit,
                      unsigned flags) {
  constexpr int kMaxThreads = 1024;
  return api(name, [&] {
    if (flags > 1 || !grid || !block) return error::InvalidValue;
    FunctionHandle* function;
    HIP_TRY(find_function(handle, function));
    const Kernel& k = *function->kernel;
    const Arch& a = *devices()[k.module->device].arch;
    const int top = std::min(static_cast<int>(k.max_block), limit > 0 ? std::min(limit, kMaxThreads) : kMaxThreads);
    int most = 0, blocks = 1;
    *block = std::min(top, a.wave);
    for (int size = a.wave; size <= top; size += a.wave) {
      const int n = occupancy(k, size, dynamic_lds);
      if (!n || n * size < most) continue;
      most = n * size;
      *block = size;
      blocks = n;
    }
    *grid = blocks * a.multiprocessors;
    return 0;
  });
}

}  // namespace

HIP_EXPORT hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function, int block,
                                                                         size_t dynamic_lds) {
  return max_active_blocks(__func__, blocks, function, block, dynamic_lds, 0);
}
HIP_EXPORT hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function,
                                                                                  int block, size_t dynamic_lds,
                                                                                  unsigned flags) {
  return max_active_blocks(__func__, blocks, function, block, dynamic_lds, flags);
}
HIP_EXPORT hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function,
                                                              size_t dynamic_lds, int limit) {
  return best_block(__func__, grid, block, function, dynamic_lds, limit, 0);
}
HIP_EXPORT hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function,
                                                                       size_t dynamic_lds, int limit, unsigned flags) {
  return best_block(__func__, grid, block, function, dynamic_lds, limit, flags);
}
