// Device over the calls that HIP and CUDA have in common.
#include "gpu/native.h"

#include <mutex>
#include <unordered_map>

#include "base/error.h"

namespace hf::gpu {
namespace {

constexpr int kOutOfMemory = 2;             // hipErrorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY
constexpr int kNoDevice = 100;              // hipErrorNoDevice, CUDA_ERROR_NO_DEVICE
constexpr unsigned kStreamNonBlocking = 1;  // hipStreamNonBlocking, CU_STREAM_NON_BLOCKING
constexpr int kCaptureThreadLocal = 1;      // hipStreamCaptureModeThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

class NativeDevice final : public Device {
 public:
  NativeDevice(const NativeApi& api, int index, DeviceInfo info) : api_(api), index_(index) { info_ = std::move(info); }

  MemoryInfo memory_info() override {
    size_t free_bytes = 0, total_bytes = 0;
    call(api_.memory_info, &free_bytes, &total_bytes);
    return {static_cast<int64_t>(free_bytes), static_cast<int64_t>(total_bytes)};
  }

  void* alloc(int64_t bytes) override {
    begin_call(Call::Alloc);
    if (bytes <= 0) fail(Code::InvalidArgument, "device memory of {} bytes was asked for", bytes);
    api_.make_current(index_);
    void* memory = nullptr;
    int status = api_.alloc.function(&memory, static_cast<size_t>(bytes));
    if (status == kOutOfMemory) {
      MemoryInfo have = memory_info();
      fail(Code::OutOfMemory, "{}: {} bytes on '{}', of whose {} bytes {} are free", api_.alloc.symbol, bytes,
           info_.name, have.total_bytes, have.free_bytes);
    }
    check_status(api_, api_.alloc.symbol, status);
    remember(memory, bytes);
    ++counts_.allocations;
    counts_.allocated_bytes += bytes;
    return memory;
  }

  void free(void* memory) override {
    if (!memory) return;
    int64_t bytes = forget(memory, api_.free.symbol);
    call(api_.free, memory);
    --counts_.allocations;
    counts_.allocated_bytes -= bytes;
  }

  void* host_alloc(int64_t bytes) override {
    begin_call(Call::HostAlloc);
    if (bytes <= 0) fail(Code::InvalidArgument, "pinned memory of {} bytes was asked for", bytes);
    void* memory = nullptr;
    call(api_.host_alloc, &memory, static_cast<size_t>(bytes), 0u);
    remember(memory, bytes);
    ++counts_.host_allocations;
    return memory;
  }

  void host_free(void* memory) override {
    if (!memory) return;
    forget(memory, api_.host_free.symbol);
    call(api_.host_free, memory);
    --counts_.host_allocations;
  }

  StreamHandle stream_create() override {
    begin_call(Call::StreamCreate);
    StreamHandle stream = nullptr;
    call(api_.stream_create, &stream, kStreamNonBlocking);
    ++counts_.streams;
    return stream;
  }

  void stream_destroy(StreamHandle stream) override {
    call(api_.stream_destroy, stream);
    --counts_.streams;
  }

  void stream_synchronize(StreamHandle stream) override {
    begin_call(Call::Synchronize);
    call(api_.stream_synchronize, stream);
  }

  void copy_to_device(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    copy(api_.copy_to_device, to, from, bytes, stream);
  }
  void copy_to_host(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    copy(api_.copy_to_host, to, from, bytes, stream);
  }
  void copy_on_device(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    copy(api_.copy_on_device, to, from, bytes, stream);
  }

  void fill(void* to, uint8_t value, int64_t bytes, StreamHandle stream) override {
    begin_call(Call::Fill);
    if (bytes) call(api_.fill, to, value, static_cast<size_t>(bytes), stream);
  }

  EventHandle event_create() override {
    begin_call(Call::EventCreate);
    EventHandle event = nullptr;
    call(api_.event_create, &event, 0u);
    ++counts_.events;
    return event;
  }

  void event_destroy(EventHandle event) override {
    call(api_.event_destroy, event);
    --counts_.events;
  }

  void event_record(EventHandle event, StreamHandle stream) override {
    begin_call(Call::EventRecord);
    call(api_.event_record, event, stream);
  }

  void event_wait(EventHandle event, StreamHandle stream) override {
    begin_call(Call::EventWait);
    call(api_.event_wait, stream, event, 0u);
  }

  void event_synchronize(EventHandle event) override {
    begin_call(Call::Synchronize);
    call(api_.event_synchronize, event);
  }

  double elapsed_us(EventHandle from, EventHandle to) override {
    float ms = 0;
    call(api_.event_elapsed, &ms, from, to);
    return double{ms} * 1000;
  }

  ModuleHandle module_load(std::string_view code) override {
    begin_call(Call::ModuleLoad);
    // The runtimes take no size and read what the header promises: without these first bytes they would read anything.
    if (code.size() < 64) fail(Code::Driver, "{}: {} bytes are no code object", api_.module_load.symbol, code.size());
    ModuleHandle module = nullptr;
    call(api_.module_load, &module, static_cast<const void*>(code.data()));
    ++counts_.modules;
    return module;
  }

  void module_unload(ModuleHandle module) override {
    call(api_.module_unload, module);
    --counts_.modules;
  }

  FunctionHandle function(ModuleHandle module, const char* name) override {
    begin_call(Call::Function);
    auto where = context([&] { return fmt::format("function '{}'", name); });
    FunctionHandle function = nullptr;
    call(api_.function, &function, module, name);
    api_.allow_all_lds(function, info_);
    return function;
  }

  void launch(FunctionHandle function, const LaunchDims& d, void** args, StreamHandle stream) override {
    begin_call(Call::Launch);
    call(api_.launch, function, d.grid.x, d.grid.y, d.grid.z, d.block.x, d.block.y, d.block.z, d.lds_bytes, stream,
         args, static_cast<void**>(nullptr));
  }

  void capture_begin(StreamHandle stream) override {
    begin_call(Call::CaptureBegin);
    call(api_.capture_begin, stream, kCaptureThreadLocal);
  }

  GraphHandle capture_end(StreamHandle stream) override {
    void* graph = nullptr;
    call(api_.capture_end, stream, &graph);
    GraphHandle ready = nullptr;
    try {
      begin_call(Call::CaptureEnd);
      call(api_.graph_instantiate, &ready, graph, 0ull);
    } catch (...) {
      api_.graph_forget.function(graph);
      throw;
    }
    ++counts_.graphs;
    call(api_.graph_forget, graph);
    return ready;
  }

  void graph_launch(GraphHandle graph, StreamHandle stream) override {
    begin_call(Call::GraphLaunch);
    call(api_.graph_launch, graph, stream);
  }

  void graph_destroy(GraphHandle graph) override {
    call(api_.graph_destroy, graph);
    --counts_.graphs;
  }

 private:
  template <class C, class... Args>
  void call(const C& what, Args... args) {
    api_.make_current(index_);
    invoke(api_, what, args...);
  }

  template <class C>
  void copy(const C& what, void* to, const void* from, int64_t bytes, StreamHandle stream) {
    begin_call(Call::Copy);
    if (bytes) call(what, to, from, static_cast<size_t>(bytes), stream);
  }

  void remember(void* memory, int64_t bytes) {
    std::lock_guard lock(mutex_);
    sizes_[memory] = bytes;
  }

  // Runtimes answer a second free of the same address with an error, or with freeing what has since been put there.
  int64_t forget(void* memory, const char* symbol) {
    std::lock_guard lock(mutex_);
    auto it = sizes_.find(memory);
    if (it == sizes_.end()) fail(Code::Driver, "{}: memory that is not allocated, or freed already", symbol);
    int64_t bytes = it->second;
    sizes_.erase(it);
    return bytes;
  }

  const NativeApi& api_;
  const int index_;
  std::mutex mutex_;
  std::unordered_map<void*, int64_t> sizes_;
};

}  // namespace

void check_status(const NativeApi& api, const char* symbol, int status) {
  if (status == 0) return;
  if (status == -1) fail(Code::Unsupported, "this runtime ('{}') has no '{}'", api.library.path(), symbol);
  fail(status == kOutOfMemory ? Code::OutOfMemory : Code::Driver, "{}: {}", symbol, api.error_text(status));
}

std::shared_ptr<Device> make_native_device(const NativeApi& api, int index, DeviceInfo info) {
  return std::make_shared<NativeDevice>(api, index, std::move(info));
}

int native_device_count(const NativeApi& api) {
  int count = 0;
  int status = api.device_count.function(&count);
  if (status == kNoDevice) return 0;
  check_status(api, api.device_count.symbol, status);
  return count;
}

std::string native_pci_id(const NativeApi& api, int index) {
  char text[64] = "";
  if (!api.device_pci_id.function || api.device_pci_id.function(text, sizeof text, index) != 0) return "";
  std::string id = text;
  for (char& c : id) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return id;
}

}  // namespace hf::gpu
