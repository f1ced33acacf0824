// The emulator's driver: kernels compiled for the host, run when they are queued, which an in-order stream allows.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "base/error.h"
#include "gpu/drivers.h"
#include "gpu/emu_block.h"
#include "gpu/emu_module.h"

namespace hf::gpu {
namespace {

struct EmuArch {
  std::string_view arch, name;
  int wave_size;
  int lds_kib;
};
// "emu" stands for no device in particular; the others have the wave size and LDS of the device they are named after.
// A matrix instruction of a device is emulated by its part of the device header, not here.
constexpr EmuArch kArchs[] = {
    {"emu", "host emulator", 32, 64},
    {"emu:gfx90a", "host emulator of gfx90a", 64, 64},
    {"emu:gfx942", "host emulator of gfx942", 64, 64},
    {"emu:gfx950", "host emulator of gfx950", 64, 160},
    {"emu:gfx1030", "host emulator of gfx1030", 32, 64},
    {"emu:gfx1100", "host emulator of gfx1100", 32, 64},
    {"emu:gfx1201", "host emulator of gfx1201", 32, 64},
};

using Work = std::function<void()>;

struct Capture {
  std::vector<Work> work;
  bool over = false;
};
// What a stream or event belongs to, until that capture is over.
struct Captured {
  std::shared_ptr<Capture> capture;
  Capture* get() {
    if (capture && capture->over) capture.reset();
    return capture.get();
  }
};
struct EmuStream {
  Captured in;  // none: work runs at once
  bool began_it = false;
};
struct EmuEvent {
  Captured in;  // of a record that was captured
  bool recorded = false;
  std::chrono::steady_clock::time_point at;
};
struct EmuGraph {
  std::vector<Work> work;
};

template <class T, class Handle>
T* as(Handle handle) {
  return reinterpret_cast<T*>(handle);
}

// A launch whose arguments are kept, for graphs.
class KeptLaunch {
 public:
  KeptLaunch(const EmuKernel& kernel, const LaunchDims& dims, int wave_size, void** args)
      : kernel_(kernel), dims_(dims), wave_size_(wave_size) {
    for (size_t i = 0; i < kernel.argument_bytes.size(); ++i) {
      const char* from = static_cast<const char*>(args[i]);
      values_.emplace_back(from, from + kernel.argument_bytes[i]);
    }
  }
  void operator()() {
    std::vector<void*> args;
    for (auto& value : values_) args.push_back(value.data());
    run_blocks(kernel_, dims_, wave_size_, args.data());
  }

 private:
  const EmuKernel& kernel_;
  LaunchDims dims_;
  int wave_size_;
  std::vector<std::vector<char>> values_;
};

class EmuDevice final : public Device {
 public:
  explicit EmuDevice(const EmuArch& arch) {
    int64_t memory = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    info_ = {.name = std::string(arch.name),
             .arch = std::string(arch.arch),
             .wave_size = arch.wave_size,
             .compute_units = 1,
             .lds_bytes = int64_t{arch.lds_kib} << 10,
             .max_threads = 1024,
             .memory_bytes = memory,
             .clock_khz = 0,
             .pci_id = "",
             .lds_at_launch = true};
  }

  MemoryInfo memory_info() override { return {info_.memory_bytes - counts_.allocated_bytes, info_.memory_bytes}; }

  void* alloc(int64_t bytes) override {
    begin_call(Call::Alloc);
    void* memory = take(bytes, memory_info().free_bytes);
    // What a kernel reads before it is written should show.
    auto* halves = static_cast<uint16_t*>(memory);
    std::fill(halves, halves + bytes / 2, uint16_t{0x7ffe});
    remember(device_memory_, memory, bytes);
    ++counts_.allocations;
    counts_.allocated_bytes += bytes;
    return memory;
  }

  void free(void* memory) override {
    if (!memory) return;
    counts_.allocated_bytes -= forget(device_memory_, memory, "free");
    --counts_.allocations;
    std::free(memory);
  }

  void* host_alloc(int64_t bytes) override {
    begin_call(Call::HostAlloc);
    void* memory = take(bytes, info_.memory_bytes);
    remember(host_memory_, memory, bytes);
    ++counts_.host_allocations;
    return memory;
  }

  void host_free(void* memory) override {
    if (!memory) return;
    forget(host_memory_, memory, "host_free");
    --counts_.host_allocations;
    std::free(memory);
  }

  StreamHandle stream_create() override {
    begin_call(Call::StreamCreate);
    ++counts_.streams;
    return reinterpret_cast<StreamHandle>(new EmuStream);
  }

  void stream_destroy(StreamHandle stream) override {
    delete as<EmuStream>(stream);
    --counts_.streams;
  }

  void stream_synchronize(StreamHandle stream) override {
    begin_call(Call::Synchronize);
    if (as<EmuStream>(stream)->in.get()) fail(Code::Driver, "stream_synchronize: the stream is being captured");
  }

  void copy_to_device(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    copy(to, from, bytes, stream, to, nullptr);
  }
  void copy_to_host(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    copy(to, from, bytes, stream, nullptr, from);
  }
  void copy_on_device(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    copy(to, from, bytes, stream, to, from);
  }

  void fill(void* to, uint8_t value, int64_t bytes, StreamHandle stream) override {
    begin_call(Call::Fill);
    if (bytes == 0) return;
    check_range(to, bytes, "fill");
    queue(stream, [=] { std::memset(to, value, static_cast<size_t>(bytes)); });
  }

  EventHandle event_create() override {
    begin_call(Call::EventCreate);
    ++counts_.events;
    return reinterpret_cast<EventHandle>(new EmuEvent);
  }

  void event_destroy(EventHandle event) override {
    delete as<EmuEvent>(event);
    --counts_.events;
  }

  void event_record(EventHandle event, StreamHandle stream) override {
    begin_call(Call::EventRecord);
    EmuEvent& e = *as<EmuEvent>(event);
    as<EmuStream>(stream)->in.get();
    e.in = as<EmuStream>(stream)->in;
    e.recorded = !e.in.get();
    e.at = std::chrono::steady_clock::now();
  }

  void event_wait(EventHandle event, StreamHandle stream) override {
    begin_call(Call::EventWait);
    Capture* capture = as<EmuEvent>(event)->in.get();
    EmuStream& s = *as<EmuStream>(stream);
    if (capture && s.in.get() && s.in.get() != capture) fail(Code::Driver, "event_wait: two captures would be joined");
    if (capture) s.in = as<EmuEvent>(event)->in;
  }

  void event_synchronize(EventHandle event) override {
    begin_call(Call::Synchronize);
    if (as<EmuEvent>(event)->in.get()) fail(Code::Driver, "event_synchronize: the event is being captured");
  }

  double elapsed_us(EventHandle from, EventHandle to) override {
    EmuEvent &a = *as<EmuEvent>(from), &b = *as<EmuEvent>(to);
    if (!a.recorded || !b.recorded) fail(Code::Driver, "elapsed_us: an event has not been recorded");
    return std::chrono::duration<double, std::micro>(b.at - a.at).count();
  }

  ModuleHandle module_load(std::string_view code) override {
    begin_call(Call::ModuleLoad);
    auto module = std::make_unique<EmuModule>(code, info_);
    ++counts_.modules;
    return reinterpret_cast<ModuleHandle>(module.release());
  }

  void module_unload(ModuleHandle module) override {
    delete as<EmuModule>(module);
    --counts_.modules;
  }

  FunctionHandle function(ModuleHandle module, const char* name) override {
    begin_call(Call::Function);
    return reinterpret_cast<FunctionHandle>(const_cast<EmuKernel*>(&as<EmuModule>(module)->kernel(name)));
  }

  void launch(FunctionHandle function, const LaunchDims& dims, void** args, StreamHandle stream) override {
    begin_call(Call::Launch);
    const EmuKernel& kernel = *as<EmuKernel>(function);
    uint64_t threads = dims.block.count(), blocks = dims.grid.count();
    if (threads == 0 || blocks == 0 || threads > static_cast<uint64_t>(info_.max_threads) ||
        dims.lds_bytes > info_.lds_bytes)
      fail(Code::Driver,
           "kernel '{}': {} blocks of {} threads with {} bytes of LDS; at most {} threads and {} bytes, at least 1",
           kernel.name, blocks, threads, dims.lds_bytes, info_.max_threads, info_.lds_bytes);
    if (as<EmuStream>(stream)->in.get())
      queue(stream, KeptLaunch(kernel, dims, info_.wave_size, args));
    else
      run_blocks(kernel, dims, info_.wave_size, args);
  }

  void capture_begin(StreamHandle stream) override {
    begin_call(Call::CaptureBegin);
    EmuStream& s = *as<EmuStream>(stream);
    if (s.in.get()) fail(Code::Driver, "capture_begin: the stream is being captured already");
    s.in.capture = std::make_shared<Capture>();
    s.began_it = true;
  }

  GraphHandle capture_end(StreamHandle stream) override {
    EmuStream& s = *as<EmuStream>(stream);
    if (!s.in.get() || !s.began_it) fail(Code::Driver, "capture_end: no capture began on this stream");
    s.began_it = false;
    std::shared_ptr<Capture> capture = std::move(s.in.capture);
    capture->over = true;
    begin_call(Call::CaptureEnd);
    auto graph = std::make_unique<EmuGraph>();
    graph->work = std::move(capture->work);
    ++counts_.graphs;
    return reinterpret_cast<GraphHandle>(graph.release());
  }

  void graph_launch(GraphHandle graph, StreamHandle) override {
    begin_call(Call::GraphLaunch);
    for (Work& work : as<EmuGraph>(graph)->work) work();
  }

  void graph_destroy(GraphHandle graph) override {
    delete as<EmuGraph>(graph);
    --counts_.graphs;
  }

 private:
  using Memory = std::map<const char*, int64_t>;

  void* take(int64_t bytes, int64_t most) {
    if (bytes <= 0) fail(Code::InvalidArgument, "memory of {} bytes was asked for", bytes);
    void* memory = nullptr;
    if (bytes > most || posix_memalign(&memory, 256, static_cast<size_t>(bytes)) != 0)
      fail(Code::OutOfMemory, "alloc: {} bytes on '{}', of whose {} bytes {} are free", bytes, info_.name,
           info_.memory_bytes, most);
    return memory;
  }

  void remember(Memory& all, void* memory, int64_t bytes) {
    std::lock_guard lock(mutex_);
    all[static_cast<char*>(memory)] = bytes;
  }

  int64_t forget(Memory& all, void* memory, const char* call) {
    std::lock_guard lock(mutex_);
    auto it = all.find(static_cast<char*>(memory));
    if (it == all.end()) fail(Code::Driver, "{}: memory that is not allocated, or freed already", call);
    int64_t bytes = it->second;
    all.erase(it);
    return bytes;
  }

  void check_range(const void* memory, int64_t bytes, const char* call) {
    std::lock_guard lock(mutex_);
    const char* at = static_cast<const char*>(memory);
    auto it = device_memory_.upper_bound(at);
    if (it == device_memory_.begin()) fail(Code::Driver, "{}: not device memory", call);
    --it;
    int64_t offset = at - it->first;
    if (offset > it->second || bytes < 0 || bytes > it->second - offset)
      fail(Code::Driver, "{}: {} bytes at offset {} of an allocation of {}", call, bytes, offset, it->second);
  }

  void copy(void* to, const void* from, int64_t bytes, StreamHandle stream, const void* device_to,
            const void* device_from) {
    begin_call(Call::Copy);
    if (bytes == 0) return;
    if (device_to) check_range(device_to, bytes, "copy to");
    if (device_from) check_range(device_from, bytes, "copy from");
    queue(stream, [=] { std::memcpy(to, from, static_cast<size_t>(bytes)); });
  }

  void queue(StreamHandle stream, Work work) {
    if (Capture* capture = as<EmuStream>(stream)->in.get())
      capture->work.push_back(std::move(work));
    else
      work();
  }

  std::mutex mutex_;
  Memory device_memory_, host_memory_;
};

class EmuDriver final : public Driver {
 public:
  std::string_view name() const override { return "emu"; }
  std::string version() const override { return "kernels compiled for the host"; }
  int device_count() override { return static_cast<int>(std::size(kArchs)); }
  std::shared_ptr<Device> open(int index) override {
    check_index(index);
    return std::make_shared<EmuDevice>(kArchs[index]);
  }
};

}  // namespace

std::unique_ptr<Driver> make_emu_driver() { return std::make_unique<EmuDriver>(); }

}  // namespace hf::gpu
