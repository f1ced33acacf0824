// Kernel arguments, dispatch packet and initial registers.
#include "device/wave_start.h"

#include <algorithm>
#include <cstring>

#include "device/support.h"

namespace amdgpu {

namespace {

// Bits of the kernel descriptor's properties: which user registers are set up.
enum Property : uint32_t {
  kPrivateSegmentBuffer = 1,
  kDispatchPointer = 2,
  kQueuePointer = 4,
  kArgumentPointer = 8,
  kDispatchId = 16,
  kFlatScratchInit = 32,
  kPrivateSegmentSize = 64
};

template <class T>
void put(uint8_t* at, T v) {
  memcpy(at, &v, sizeof v);
}

// x, y or z at the end of a name as 0, 1 or 2.
int dimension(const std::string& kind) {
  const int d = kind.empty() ? 0 : kind.back() - 'x';
  return d < 0 || d > 2 ? 0 : d;
}

int dimensions(const Launch& l) { return l.grid[2] * l.block[2] > 1 ? 3 : l.grid[1] * l.block[1] > 1 ? 2 : 1; }

void write_hidden(const Argument& a, const Launch& l, uint8_t* at) {
  const std::string& kind = a.kind;
  if (starts_with(kind, "hidden_block_count_")) put<uint32_t>(at, l.grid[dimension(kind)]);
  if (starts_with(kind, "hidden_group_size_")) put<uint16_t>(at, static_cast<uint16_t>(l.block[dimension(kind)]));
  if (kind == "hidden_grid_dims") put<uint16_t>(at, static_cast<uint16_t>(dimensions(l)));
  if (kind == "hidden_dynamic_lds_size") put<uint32_t>(at, l.dynamic_lds);
  if (kind == "hidden_private_base") put<uint32_t>(at, static_cast<uint32_t>(private_aperture() >> 32));
  if (kind == "hidden_shared_base") put<uint32_t>(at, static_cast<uint32_t>(shared_aperture() >> 32));
}

void set_special_registers(Wave& w) {
  std::fill(w.s + reg::Vcc, w.s + reg::Count, 0);
  const auto shared = static_cast<u32>(w.shared_aperture >> 32), priv = static_cast<u32>(w.private_aperture >> 32);
  w.s[reg::SharedBase + 1] = w.s[reg::SharedLimit + 1] = shared;
  w.s[reg::PrivateBase + 1] = w.s[reg::PrivateLimit + 1] = priv;
  w.s[reg::SharedLimit] = w.s[reg::PrivateLimit] = ~0u;
}

// Scalar registers after the user's: the block's number and the scratch offset, as the descriptor asks for them.
void set_system_registers(Wave& w, const Kernel& k, uint32_t at, const uint32_t (&block)[3]) {
  if (w.isa == Isa::Rdna4) {
    w.s[reg::Ttmp + 7] = (block[1] & 0xffff) | block[2] << 16;
    w.s[reg::Ttmp + 9] = block[0];
    return;
  }
  for (int d = 0; d < 3; d++)
    if (k.rsrc2 >> (7 + d) & 1) w.s[at++] = block[d];
  const bool group_info = k.rsrc2 >> 10 & 1;
  const bool scratch_offset = (k.rsrc2 & 1) && (w.isa == Isa::Cdna2 || w.isa == Isa::Rdna2);
  if (group_info) w.s[at++] = 0;
  if (scratch_offset) w.s[at++] = 0;
}

void set_vector_registers(Wave& w, const Launch& l, uint32_t first_thread, uint32_t count, u32 pattern) {
  const Kernel& k = *l.kernel;
  auto poisoned = [&](u32 registers) { return std::min<size_t>(256, round_up(std::max(1u, registers), 8)) * w.lanes; };
  std::fill(w.vgprs, w.vgprs + poisoned(k.vgprs), pattern);
  if (w.lanes == 64) std::fill(w.row(kFirstAgpr), w.row(kFirstAgpr) + poisoned(k.agprs), pattern);
  const uint32_t separate = w.isa == Isa::Rdna2 ? k.rsrc2 >> 11 & 3 : 0;
  for (uint32_t t = 0; t < count; t++) {
    const uint32_t id = first_thread + t;
    const uint32_t x = id % l.block[0], y = id / l.block[0] % l.block[1], z = id / (l.block[0] * l.block[1]);
    w.vgprs[t] = w.isa == Isa::Rdna2 ? x : z << 20 | y << 10 | x;
    if (separate > 0) w.row(1)[t] = y;
    if (separate > 1) w.row(2)[t] = z;
  }
}

}  // namespace

void write_arguments(const Launch& l, uint8_t* to) {
  const Kernel& k = *l.kernel;
  memset(to, 0, round_up(k.argument_bytes + 1, 256));
  memcpy(to, l.arguments.data(), std::min<size_t>(l.arguments.size(), k.argument_bytes));
  for (const Argument& a : k.arguments)
    if (a.hidden()) write_hidden(a, l, to + a.offset);
}

// hsa_kernel_dispatch_packet_t
void write_packet(const Launch& l, const GroupMemory& memory, uint8_t* to) {
  memset(to, 0, 64);
  put<uint16_t>(to + 2, 3);
  for (int i = 0; i < 3; i++) {
    put<uint16_t>(to + 4 + 2 * i, static_cast<uint16_t>(l.block[i]));
    put<uint32_t>(to + 12 + 4 * i, l.grid[i] * l.block[i]);
  }
  put<uint32_t>(to + 24, memory.scratch_bytes);
  put<uint32_t>(to + 28, memory.lds_bytes);
  put<uint64_t>(to + 32, l.kernel->descriptor);
  put<uint64_t>(to + 40, memory.arguments);
}

uint32_t user_register_count(const Kernel& k) { return k.rsrc2 >> 1 & 31; }

std::vector<uint32_t> user_registers(const Kernel& k, const GroupMemory& memory, const uint8_t* arguments) {
  std::vector<uint32_t> user;
  auto add64 = [&](uint64_t v) {
    user.push_back(static_cast<uint32_t>(v));
    user.push_back(static_cast<uint32_t>(v >> 32));
  };
  if (k.properties & kPrivateSegmentBuffer) {  // filled in for each wave
    add64(0);
    add64(0);
  }
  if (k.properties & kDispatchPointer) add64(memory.packet);
  if (k.properties & kQueuePointer) add64(0);
  if (k.properties & kArgumentPointer) add64(memory.arguments);
  if (k.properties & kDispatchId) add64(0);
  if (k.properties & kFlatScratchInit) add64(0);
  if (k.properties & kPrivateSegmentSize) user.push_back(memory.scratch_bytes);
  const uint32_t preloaded = k.preload & 0x7f, from = k.preload >> 7 & 0x1ff;
  for (uint32_t i = 0; i < preloaded; i++) {
    uint32_t v;
    memcpy(&v, arguments + 4 * (from + i), 4);
    user.push_back(v);
  }
  return user;
}

void start_wave(Wave& w, const Launch& l, const std::vector<uint32_t>& user, const GroupMemory& memory,
                const uint32_t (&block)[3]) {
  const Kernel& k = *l.kernel;
  const u32 pattern = poison() | u32{poison()} << 16;
  const uint32_t first_thread = w.id * w.lanes, count = std::min(w.lanes, l.threads() - first_thread);
  const uint32_t users = user_register_count(k);
  std::fill(w.s, w.s + reg::Vcc, pattern);
  set_special_registers(w);
  w.s[reg::M0] = pattern;
  const u64 exec = count >= 64 ? ~0ull : (1ull << count) - 1;
  w.s[reg::Exec] = static_cast<u32>(exec);
  w.s[reg::Exec + 1] = w.lanes == 64 ? static_cast<u32>(exec >> 32) : 0;
  for (uint32_t i = 0; i < users; i++) w.s[i] = i < user.size() ? user[i] : 0;
  if ((k.properties & kPrivateSegmentBuffer) && memory.scratch_bytes) {
    const uint64_t scratch = memory.scratch + w.id * memory.scratch_of_wave;
    w.s[0] = static_cast<u32>(scratch);
    w.s[1] = static_cast<u32>(scratch >> 32);
    w.s[2] = ~0u;
    w.s[3] = 1u << 23;  // ADD_TID_ENABLE, by which buffer accesses recognise this descriptor
  }
  set_system_registers(w, k, users, block);
  set_vector_registers(w, l, first_thread, count, pattern);
  w.pc = k.entry;
  w.done = w.at_barrier = false;
  w.stop = Stop::Running;
  w.expanded_of = 0;
  std::fill(w.expanded, w.expanded + kMaxLanes, 0);
  w.mode = k.rsrc1 >> 12 & 0xff;
  w.error = "";
}

}  // namespace amdgpu
