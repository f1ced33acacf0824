// Wave scheduling, memory of a workgroup, faults.
#include "device/launch.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device/support.h"
#include "device/wave_start.h"
#include "isa/decode.h"
#include "isa/number_format.h"

namespace amdgpu {

namespace {

constexpr uint64_t kSlice = 1000000;       // instructions before the next wave has its turn
constexpr uint32_t kDynamicStack = 16384;  // bytes a lane, for kernels whose need is not known
constexpr size_t kArgumentBlock = 32768;   // the arguments end in the middle of two of these; the packet follows
constexpr size_t kDecodeAhead = 5;         // words after the last instruction that the decoder may read
constexpr unsigned kRoundsBetweenTimeChecks = 16;

// ---- faults: a signal in the thread that executes jumps back into Execution::run_guarded()

sigjmp_buf fault_jump;
volatile pid_t executing_thread = 0;  // 0: a signal is not ours
volatile uint64_t fault_address;
volatile int fault_code;
const Inst* volatile current_inst;
struct sigaction old_segv, old_bus;

void on_fault(int signal_number, siginfo_t* info, void* context) {
  if (executing_thread && executing_thread == static_cast<pid_t>(syscall(SYS_gettid))) {
    fault_address = reinterpret_cast<uint64_t>(info->si_addr);
    fault_code = info->si_code;
    siglongjmp(fault_jump, 1);
  }
  const struct sigaction& old = signal_number == SIGSEGV ? old_segv : old_bus;
  if (old.sa_flags & SA_SIGINFO)
    old.sa_sigaction(signal_number, info, context);
  else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)
    old.sa_handler(signal_number);
  else
    signal(signal_number, SIG_DFL);
}

// Takes the signals and the host's floating point mode for the time of a launch.
class HostState {
 public:
  HostState() : mxcsr_(_mm_getcsr()) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
  }
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;
  ~HostState() {
    executing_thread = 0;
    _mm_setcsr(mxcsr_);
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
  }

 private:
  unsigned mxcsr_;
};

// ---- memory that all launches use again

struct Reused {
  u32* registers = nullptr;
  size_t register_words = 0;
  struct OfDevice {
    uint8_t* lds = nullptr;
    uint64_t scratch = 0;
    size_t scratch_bytes = 0;
  } device[8];
};
Reused reused;

bool reserve_registers(size_t words) {
  if (reused.register_words >= words) return true;
  free(reused.registers);
  reused.registers = static_cast<u32*>(aligned_alloc(64, words * sizeof(u32)));
  reused.register_words = reused.registers ? words : 0;
  return reused.registers;
}

bool reserve_lds(const Device& d) {
  uint8_t*& lds = reused.device[d.id].lds;
  if (lds) return true;
  void* p = mmap(reinterpret_cast<void*>(shared_aperture() + d.to_host), kLdsBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (p != MAP_FAILED) lds = static_cast<uint8_t*>(p);
  return lds;
}

// The last `bytes` of the scratch memory, so that its end is the end of the mapping. 0 if there is no room.
uint64_t reserve_scratch(const Device& d, size_t bytes) {
  auto& r = reused.device[d.id];
  if (r.scratch_bytes < bytes) {
    if (r.scratch) deallocate_internal(r.scratch);
    Status status;
    r.scratch = allocate(d.id, bytes, MemoryKind::Internal, 0, status);
    r.scratch_bytes = r.scratch ? bytes : 0;
    if (!r.scratch) return 0;
  }
  return r.scratch + r.scratch_bytes - bytes;
}

void dump(const Wave& w, const Inst& in) {
  fprintf(stderr, "w%u %s", w.id, in.text.c_str());
  for (int i = 0; i < in.op_count && i < 2; i++) {
    const Operand& o = in.op[i];
    if (o.kind == OperandKind::Vector) {
      fprintf(stderr, " | %d:", i);
      for (u32 l = 0; l < 4; l++) fprintf(stderr, " %08x", w.row(o.r)[l]);
    } else if (o.kind == OperandKind::Scalar) {
      fprintf(stderr, " | %d: %08x %08x", i, w.s[o.r], w.s[o.r + 1]);
    }
  }
  fprintf(stderr, " | exec %lx scc %u\n", static_cast<unsigned long>(w.exec()), w.s[reg::Scc]);
}

class Execution {
 public:
  Execution(const Launch& launch, std::string& message)
      : launch_(launch),
        kernel_(*launch.kernel),
        module_(*kernel_.module),
        device_(devices()[module_.device]),
        arch_(*device_.arch),
        lanes_(static_cast<uint32_t>(arch_.wave)),
        message_(message) {}

  Status run() {
    message_.clear();
    if (Status s = prepare()) return s;
    KernelStatistics& statistics = kernel_statistics()[kernel_.name + " [" + arch_.gfx + "]"];
    start_ = now();
    Status status;
    {
      HostState host;
      status = run_guarded();
    }
    if (status != kIllegalAddress) {
      statistics.launches++;
      statistics.instructions += executed_;
      statistics.groups += groups_;
      statistics.seconds += now() - start_;
    }
    return status;
  }

 private:
  Status refuse(Status status, std::string words) {
    message_ = std::move(words);
    return status;
  }

  Status prepare() {
    if (kernel_.wave != lanes_)
      return refuse(kNotSupported,
                    text("wavefront size %u on %s: only wave%u is emulated", kernel_.wave, arch_.gfx, lanes_));
    if (kernel_.dynamic_stack)
      log("kernel %s uses a dynamic stack: %u KiB per lane assumed", kernel_.name.c_str(), kDynamicStack / 1024);
    memory_.lds_bytes = kernel_.lds_bytes + launch_.dynamic_lds;
    memory_.scratch_bytes = kernel_.scratch_bytes + (kernel_.dynamic_stack ? kDynamicStack : 0);
    if (Status s = reserve_memory()) return s;

    memory_.arguments = device_.kernel_arguments + kArgumentBlock - round_up(kernel_.argument_bytes + 1, 256);
    memory_.packet = device_.kernel_arguments + kArgumentBlock;
    auto* arguments = reinterpret_cast<uint8_t*>(memory_.arguments + device_.to_host);
    write_arguments(launch_, arguments);
    write_packet(launch_, memory_, reinterpret_cast<uint8_t*>(memory_.packet + device_.to_host));
    user_ = user_registers(kernel_, memory_, arguments);
    const uint32_t wanted = user_register_count(kernel_);
    if (user_.size() > wanted && wanted < 31) return refuse(kNotSupported, "user SGPR count mismatch");
    return kOk;
  }

  Status reserve_memory() {
    Status status = kOk;
    if (kernel_.argument_bytes > kArgumentBlock - 256) return refuse(kNotSupported, "kernarg segment too large");
    if (memory_.lds_bytes > kLdsBytes) return refuse(kInvalidValue, "more than 64 KiB of LDS");
    if (!device_.kernel_arguments)
      device_.kernel_arguments = allocate(device_.id, 2 * kArgumentBlock, MemoryKind::Internal, 0, status);
    if (!device_.kernel_arguments) return refuse(kOutOfMemory, "no memory");

    const size_t wave_count = (launch_.threads() + lanes_ - 1) / lanes_;
    registers_of_wave_ = (lanes_ == 64 ? 512 : 256) * size_t{lanes_};
    if (!reserve_registers(registers_of_wave_ * wave_count) || !reserve_lds(device_))
      return refuse(kOutOfMemory, "no host memory");
    waves_.resize(wave_count);

    // The end of the LDS allocation is the end of its mapping, so that what is past it faults.
    const bool checked = env_int("AMDEMU_LDS_CHECK", 1) != 0;
    lds_ = reused.device[device_.id].lds + (checked ? kLdsBytes - round_up(memory_.lds_bytes, 16) : 0);
    memory_.scratch_stride = static_cast<uint32_t>(std::max<uint64_t>(round_up(memory_.scratch_bytes, 4), 4));
    memory_.scratch_of_wave = round_up(uint64_t{memory_.scratch_stride} * lanes_, 256);
    scratch_total_ = round_up(memory_.scratch_of_wave * wave_count, kPage);
    if (memory_.scratch_bytes) memory_.scratch = reserve_scratch(device_, scratch_total_);
    if (memory_.scratch_bytes && !memory_.scratch) return refuse(kOutOfMemory, "no scratch memory");
    return kOk;
  }

  // Nothing here or in what it calls until the jump may need a destructor.
  __attribute__((noinline)) Status run_guarded() {
    if (sigsetjmp(fault_jump, 0)) {
      executing_thread = 0;
      return report_fault();
    }
    return run_groups();
  }

  Status run_groups() {
    Status status = kOk;
    for (block_[2] = 0; block_[2] < launch_.grid[2]; block_[2]++)
      for (block_[1] = 0; block_[1] < launch_.grid[1]; block_[1]++)
        for (block_[0] = 0; block_[0] < launch_.grid[0]; block_[0]++)
          if ((status = run_group())) return status;
    return status;
  }

  Status run_group() {
    for (size_t i = 0; i < waves_.size(); i++) start(static_cast<uint32_t>(i));
    if (memory_.lds_bytes) fill_pattern(lds_, poison(), round_up(memory_.lds_bytes, 16));
    if (memory_.scratch_bytes)
      fill_pattern(reinterpret_cast<void*>(memory_.scratch + device_.to_host), poison(), scratch_total_);
    executing_thread = static_cast<pid_t>(syscall(SYS_gettid));
    Status status = kOk;
    for (size_t left = waves_.size(); left && !status;) {
      for (size_t i = 0; i < waves_.size() && !status; i++) {
        current_wave_ = reversed_ ? waves_.size() - 1 - i : i;
        Wave& w = waves_[current_wave_];
        if (w.done || w.at_barrier) continue;
        status = after(w, run_slice(w));
        left -= w.done;
      }
      release_barrier();
    }
    executing_thread = 0;
    groups_++;
    if (!status && timeout_ && now() - start_ > static_cast<double>(timeout_))
      return refuse(kLaunchTimeOut, "kernel " + kernel_.name + " exceeded AMDEMU_TIMEOUT");
    return status;
  }

  void start(uint32_t id) {
    Wave& w = waves_[id];
    w.id = id;
    w.isa = arch_.isa;
    w.lanes = lanes_;
    w.vgprs = reused.registers + id * registers_of_wave_;
    w.lds = lds_;
    w.to_host = device_.to_host;
    w.scratch = memory_.scratch + id * memory_.scratch_of_wave + device_.to_host;
    w.scratch_stride = memory_.scratch_stride;
    w.shared_aperture = shared_aperture();
    w.private_aperture = private_aperture();
    start_wave(w, launch_, user_, memory_, block_);
  }

  // Every wave that still lives has reached the barrier.
  void release_barrier() {
    if (std::any_of(waves_.begin(), waves_.end(), [](const Wave& w) { return !w.done && !w.at_barrier; })) return;
    for (Wave& w : waves_) w.at_barrier = false;
  }

  // Runs a wave until it ends, waits, fails or has had its turn.
  __attribute__((noinline)) Stop run_slice(Wave& w) {
    const uint64_t base = module_.base, entries = module_.code.size() - kDecodeAhead, first = executed_;
    std::unique_ptr<Inst>* code = module_.code.data();
    const bool dumping = dumping_;
    w.stop = Stop::Running;
    apply_mode(w.mode);
    uint64_t count = 0;
    Stop result = Stop::Slice;
    while (count < kSlice) {
      const uint64_t i = (w.pc - base) >> 2;
      if (i >= entries || w.pc & 3) {
        result = Stop::BadPc;
        break;
      }
      if (!code[i] && !decode_at(w, code[i])) {
        result = Stop::Unknown;
        break;
      }
      const Inst& in = *code[i];
      current_inst = &in;
      w.pc += in.size;
      w.clock = first + count++;
      in.handler(w, in);
      if (__builtin_expect(dumping, false)) dump(w, in);
      if (w.stop != Stop::Running) {
        result = w.stop;
        break;
      }
    }
    executed_ += count;
    return result;
  }

  bool decode_at(const Wave& w, std::unique_ptr<Inst>& out) {
    const pid_t thread = executing_thread;
    executing_thread = 0;  // a fault of the decoder is not the kernel's
    apply_default_mode();
    const auto* at = reinterpret_cast<const u8*>(w.pc + w.to_host);
    out = decode(arch_, at, static_cast<size_t>(module_.base + module_.size - w.pc), w.pc, message_);
    apply_mode(w.mode);
    executing_thread = thread;
    return out != nullptr;
  }

  // What a wave's stop means for the launch.
  Status after(Wave& w, Stop stop) {
    const char* name = kernel_.name.c_str();
    const auto offset = static_cast<unsigned long>(w.pc - kernel_.entry);
    switch (stop) {
      case Stop::Done: w.done = true; return kOk;
      case Stop::Barrier: w.at_barrier = true; return kOk;
      case Stop::Unknown:
        return refuse(kNotSupported,
                      "cannot emulate: " + message_ + text(" (kernel %s, %s, pc +0x%lx)", name, arch_.gfx, offset));
      case Stop::Error:
        return refuse(kNotSupported, text("cannot emulate: %s (kernel %s, before pc +0x%lx)", w.error, name, offset));
      case Stop::Trap:
        return refuse(kLaunchFailure,
                      text("s_trap executed (abort or assertion on the device): kernel %s, block (%u,%u,%u)", name,
                           block_[0], block_[1], block_[2]));
      case Stop::BadPc:
        return refuse(kLaunchFailure, text("program counter 0x%lx outside the code object (kernel %s)",
                                           static_cast<unsigned long>(w.pc), name));
      case Stop::Slice:
      case Stop::Running: break;
    }
    const bool late =
        timeout_ && ++rounds_ % kRoundsBetweenTimeChecks == 0 && now() - start_ > static_cast<double>(timeout_);
    if ((limit_ && executed_ > limit_) || late)
      return refuse(kLaunchTimeOut, "kernel " + kernel_.name + " exceeded AMDEMU_MAX_INSTS or AMDEMU_TIMEOUT");
    return kOk;
  }

  Status report_fault() {
    const uint64_t host = fault_address, address = host - device_.to_host;
    const Inst* in = current_inst;
    const uint64_t scratch = memory_.scratch;
    std::string what;
    if (address + kPage >= shared_aperture() && address < private_aperture())
      what = text("LDS access out of bounds: offset %ld of %u bytes",
                  static_cast<long>(host - reinterpret_cast<uint64_t>(lds_)), memory_.lds_bytes);
    else if (memory_.scratch_bytes && address + kPage >= scratch && address < scratch + scratch_total_ + kPage)
      what = "scratch access out of bounds";
    else if (fault_code == SI_KERNEL || host == 0)
      what = "memory access fault: non-canonical address (a host pointer or garbage)";
    else
      what = text("memory access fault at device address 0x%lx: ", static_cast<unsigned long>(address)) +
             describe_address(device_.id, address);
    const auto offset = static_cast<unsigned long>(in ? in->pc - kernel_.entry : 0);
    what += text("; kernel %s, device %d (%s), block (%u,%u,%u), wave %zu, pc +0x%lx: ", kernel_.name.c_str(),
                 device_.id, arch_.gfx, block_[0], block_[1], block_[2], current_wave_, offset);
    return refuse(kIllegalAddress, what + (in ? in->text : ""));
  }

  const Launch& launch_;
  Kernel& kernel_;
  Module& module_;
  Device& device_;
  const Arch& arch_;
  const uint32_t lanes_;
  std::string& message_;

  GroupMemory memory_;
  uint8_t* lds_ = nullptr;
  size_t registers_of_wave_ = 0, scratch_total_ = 0;
  std::vector<uint32_t> user_;
  std::vector<Wave> waves_;
  uint32_t block_[3] = {};
  size_t current_wave_ = 0;

  const bool dumping_ = env_int("AMDEMU_DUMP", 0) != 0, reversed_ = env_int("AMDEMU_REVERSE", 0) != 0;
  const uint64_t limit_ = static_cast<uint64_t>(env_int("AMDEMU_MAX_INSTS", 0));
  const long timeout_ = env_int("AMDEMU_TIMEOUT", 0);
  double start_ = 0;
  uint64_t executed_ = 0, groups_ = 0;
  unsigned rounds_ = 0;
};

}  // namespace

std::map<std::string, KernelStatistics>& kernel_statistics() {
  static auto& all = *new std::map<std::string, KernelStatistics>;
  return all;
}

Status run(const Launch& launch, std::string& message) { return Execution(launch, message).run(); }

}  // namespace amdgpu
