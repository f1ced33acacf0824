// Device memory: address ranges, pages, guard pages, canaries.
#include "device/arena.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>

#include "device/support.h"

namespace amdgpu {

namespace {

constexpr uint64_t kGiB = 1ull << 30, kAperture = 4 * kGiB;
constexpr size_t kPoisonChunk = 2u << 20, kLargePoisonChunk = 16u << 20, kLargeAllocation = 256u << 20;
constexpr size_t kRememberedFrees = 200000;
constexpr uint64_t kNear = 65536;  // distance at which a fault message still names an allocation

using ByAddress = std::map<uint64_t, Allocation>;

struct Arena {
  uint64_t base = 0, size = 0;
  uint64_t first = 0, next = 0;  // where allocations begin, where the next search begins
  uint64_t shared_aperture = 0, private_aperture = 0;
  int poison_file = -1, shared_file = -1;
  size_t poison_bytes = 0;  // of the poison file that are filled
  uint16_t poison = 0x7ffe;
  bool end_aligned = true, canaries = true, freed_reads_poison = false;
  uint64_t serial = 0;
  int64_t live_count = 0;
  ByAddress live, freed;  // by first page

  uint64_t end() const { return base + size; }
};

// Never destroyed: the program may call the library from its own static destructors.
Arena& arena = *new Arena;

bool map_at(uint64_t at, uint64_t bytes, int protection, int flags, int file, uint64_t offset) {
  return mmap(reinterpret_cast<void*>(at), bytes, protection, flags | MAP_FIXED | MAP_NORESERVE, file,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

bool map_shared(uint64_t at, const Allocation& a) {
  return map_at(at, a.end - a.begin, kReadWrite, MAP_SHARED, arena.shared_file, a.begin - arena.base);
}

void unmap(uint64_t at, uint64_t bytes) { map_at(at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

bool reserve(uint64_t& address, uint64_t bytes, bool fixed) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0);
  void* p = mmap(fixed ? reinterpret_cast<void*>(address) : nullptr, bytes, PROT_NONE, flags, -1, 0);
  if (p == MAP_FAILED) return false;
  const uint64_t got = reinterpret_cast<uint64_t>(p);
  if (fixed && got != address) {
    munmap(p, bytes);
    return false;
  }
  address = got;
  return true;
}

// ---- devices and address space

bool make_devices(std::string& error) {
  const std::vector<std::string> names = split(env_text("AMDEMU_ARCH", "gfx942"), ", ");
  if (names.size() == 1 && names[0] == "none") return true;
  if (names.empty() || names.size() > 8) {
    error = "AMDEMU_ARCH: 1 to 8 devices";
    return false;
  }
  const long mib = env_int("AMDEMU_MEMORY_MB", 0);
  for (const std::string& name : names) {
    const std::string gfx = name.substr(0, name.find(':'));
    const Arch* arch = find_arch(gfx);
    if (!arch) {
      error = "AMDEMU_ARCH: " + name + " has no decoder; supported: " + supported_archs();
      devices().clear();
      return false;
    }
    Device d;
    d.id = static_cast<int>(devices().size());
    d.arch = arch;
    d.target = name == gfx ? gfx + arch->features : name;
    d.memory_total = (mib > 0 ? static_cast<uint64_t>(mib) : std::min<uint64_t>(arch->memory_mib, 16384)) << 20;
    d.peer.assign(names.size(), false);
    d.peer[static_cast<size_t>(d.id)] = true;
    devices().push_back(d);
  }
  return true;
}

// One range for the device addresses and one for each device's view of them, at round addresses.
bool reserve_fixed(uint64_t bytes) {
  constexpr uint64_t kBase = 0x110000000000, kStep = 0x020000000000;
  std::vector<uint64_t> got;
  for (size_t i = 0; i <= devices().size(); i++) {
    uint64_t address = kBase + kStep * i;
    if (!reserve(address, bytes, true)) {
      for (uint64_t a : got) munmap(reinterpret_cast<void*>(a), bytes);
      return false;
    }
    got.push_back(address);
  }
  arena.base = kBase;
  arena.size = bytes;
  for (Device& d : devices()) d.to_host = kStep * static_cast<uint64_t>(d.id + 1);
  return true;
}

bool reserve_anywhere(uint64_t bytes) {
  uint64_t address = 0;
  if (!reserve(address, bytes * (devices().size() + 1), false)) return false;
  arena.base = address;
  arena.size = bytes;
  for (Device& d : devices()) d.to_host = bytes * static_cast<uint64_t>(d.id + 1);
  return true;
}

bool reserve_address_space() {
  // ThreadSanitizer forbids most of the address space.
  const bool tsan = dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
  for (uint64_t bytes = static_cast<uint64_t>(env_int("AMDEMU_VA_GB", tsan ? 32 : 1024)) * kGiB; bytes >= 32 * kGiB;
       bytes /= 2) {
    if (bytes > 1024 * kGiB) continue;
    if ((!tsan && reserve_fixed(bytes)) || reserve_anywhere(bytes)) return true;
  }
  return false;
}

// ---- pages

bool grow_poison(size_t bytes) {
  if (arena.poison_bytes >= bytes) return true;
  if (ftruncate(arena.poison_file, static_cast<off_t>(bytes))) return false;
  void* m = mmap(nullptr, bytes, kReadWrite, MAP_SHARED, arena.poison_file, 0);
  if (m == MAP_FAILED) return false;
  fill_pattern(static_cast<uint8_t*>(m) + arena.poison_bytes, arena.poison, bytes - arena.poison_bytes);
  munmap(m, bytes);
  arena.poison_bytes = bytes;
  return true;
}

// A copy-on-write view of the pattern, committed page by page as it is written.
bool map_poison(const Allocation& a, size_t chunk) {
  if (!grow_poison(chunk)) return false;
  const uint64_t at = a.begin + devices()[a.device].to_host, bytes = a.end - a.begin;
  for (uint64_t o = 0; o < bytes; o += chunk)
    if (!map_at(at + o, std::min<uint64_t>(chunk, bytes - o), kReadWrite, MAP_PRIVATE, arena.poison_file, 0))
      return false;
  return true;
}

// Memory that more than one range of addresses shows.
bool is_shared(const Allocation& a) { return a.host_visible() || devices().size() > 1; }

bool map_pages(const Allocation& a) {
  if (!is_shared(a)) return map_poison(a, a.end - a.begin > kLargeAllocation ? kLargePoisonChunk : kPoisonChunk);
  for (const Device& d : devices())
    if ((a.host_visible() || d.peer[a.device]) && !map_shared(a.begin + d.to_host, a)) return false;
  if (a.host_visible() && !map_shared(a.begin, a)) return false;
  if (arena.poison)
    fill_pattern(reinterpret_cast<void*>(a.begin + devices()[a.device].to_host), arena.poison, a.end - a.begin);
  return true;
}

void unmap_pages(const Allocation& a) {
  if (arena.freed_reads_poison && !is_shared(a)) {  // reads return the pattern, writes are lost
    map_poison(a, kPoisonChunk);
    return;
  }
  for (const Device& d : devices()) unmap(a.begin + d.to_host, a.end - a.begin);
  if (a.host_visible()) unmap(a.begin, a.end - a.begin);
  if (is_shared(a))
    fallocate(arena.shared_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(a.begin - arena.base),
              static_cast<off_t>(a.end - a.begin));
}

// ---- bookkeeping

// The last allocation that begins at or before p.
ByAddress::iterator at_or_before(ByAddress& map, uint64_t p) {
  auto it = map.upper_bound(p);
  return it == map.begin() ? map.end() : std::prev(it);
}

// A free range with a guard page on both sides: first after the last allocation, then from the start.
bool find_range(uint64_t bytes, uint64_t& begin) {
  for (int pass = 0; pass < 2; pass++) {
    uint64_t a = arena.next;
    while (a + bytes + kPage <= arena.end()) {
      auto it = at_or_before(arena.live, a + bytes + kPage);
      const bool clash = it != arena.live.end() && it->second.end + kPage > a && it->first < a + bytes + kPage;
      if (!clash) {
        begin = a;
        return true;
      }
      a = it->second.end + kPage;
    }
    arena.next = arena.first;
  }
  return false;
}

bool canary_intact(const Allocation& a, uint64_t* where) {
  const uint64_t to_host = devices()[a.device].to_host;
  for (uint64_t p = a.pointer + a.size; p < a.end; p++)
    if (*reinterpret_cast<uint8_t*>(p + to_host) != static_cast<uint8_t>(p & 1 ? arena.poison >> 8 : arena.poison)) {
      *where = p;
      return false;
    }
  return true;
}

std::string describe(const Allocation& a) {
  const char* kind = a.kind == MemoryKind::Host       ? "pinned host"
                     : a.kind == MemoryKind::Internal ? "internal"
                                                      : "device";
  return text("%zu-byte %s allocation #%lu at 0x%lx (device %d)", a.size, kind, static_cast<unsigned long>(a.serial),
              static_cast<unsigned long>(a.pointer), a.device);
}

void forget(ByAddress::iterator it) {
  const Allocation a = it->second;
  unmap_pages(a);
  arena.live.erase(it);
  arena.freed[a.begin] = a;
}

}  // namespace

std::vector<Device>& devices() {
  static auto& all = *new std::vector<Device>;
  return all;
}

bool init_devices(std::string& error) {
  if (!make_devices(error)) return false;
  if (devices().empty()) return true;
  if (!reserve_address_space()) {
    error = "cannot reserve address space";
    return false;
  }
  arena.shared_aperture = round_up(arena.base, kAperture);
  arena.private_aperture = arena.shared_aperture + kAperture;
  arena.next = arena.first = arena.private_aperture + kAperture;
  const std::string pattern = env_text("AMDEMU_POISON", "7ffe");
  arena.poison = pattern == "off" ? 0 : static_cast<uint16_t>(strtol(pattern.c_str(), nullptr, 16));
  arena.end_aligned = env_int("AMDEMU_ALIGN_END", 1) != 0;
  arena.canaries = arena.end_aligned && env_int("AMDEMU_CANARY", 1) != 0;
  arena.freed_reads_poison = env_text("AMDEMU_FREED", "fault") == "poison";
  arena.poison_file = memfd_create("amdemu-poison", MFD_CLOEXEC);
  arena.shared_file = memfd_create("amdemu-shared", MFD_CLOEXEC);
  if (arena.poison_file < 0 || arena.shared_file < 0 || ftruncate(arena.shared_file, static_cast<off_t>(arena.size))) {
    error = "memfd_create failed";
    return false;
  }
  return true;
}

uint64_t allocate(int device, size_t size, MemoryKind kind, unsigned flags, Status& status) {
  Device& d = devices()[device];
  status = kOutOfMemory;
  if (size > arena.size / 2) return 0;
  const uint64_t wanted = std::max<size_t>(size, 1), bytes = round_up(wanted, kPage);
  Allocation a;
  a.size = size;
  a.device = device;
  a.kind = kind;
  a.flags = flags;
  a.charged = kind == MemoryKind::Device || kind == MemoryKind::Managed ? bytes : 0;
  a.serial = ++arena.serial;
  if (d.memory_used + a.charged > d.memory_total || !find_range(bytes, a.begin)) return 0;
  a.end = a.begin + bytes;
  a.pointer = arena.end_aligned && kind != MemoryKind::Internal ? a.end - round_up(wanted, 256) : a.begin;
  if (!map_pages(a)) {
    unmap_pages(a);
    return 0;
  }
  auto reused = arena.freed.lower_bound(a.begin);
  while (reused != arena.freed.end() && reused->first < a.end) reused = arena.freed.erase(reused);
  arena.next = a.end + kPage;
  d.memory_used += a.charged;
  arena.live[a.begin] = a;
  if (kind != MemoryKind::Internal) arena.live_count++;
  status = kOk;
  return a.pointer;
}

Status deallocate(uint64_t pointer, bool host) {
  auto it = at_or_before(arena.live, pointer);
  if (it == arena.live.end()) return kInvalidValue;
  const Allocation& a = it->second;
  if (a.pointer != pointer || a.kind == MemoryKind::Internal || host != (a.kind == MemoryKind::Host))
    return kInvalidValue;
  uint64_t where;
  if (arena.canaries && !canary_intact(a, &where)) log("free: %s was written past its end", describe(a).c_str());
  devices()[a.device].memory_used -= a.charged;
  forget(it);
  arena.live_count--;
  if (arena.freed.size() > kRememberedFrees) arena.freed.erase(arena.freed.begin());
  return kOk;
}

void deallocate_internal(uint64_t pointer) {
  auto it = at_or_before(arena.live, pointer);
  if (it != arena.live.end() && it->second.pointer == pointer) forget(it);
}

void deallocate_all(int device) {
  std::vector<Allocation> all;
  for (auto& [begin, a] : arena.live)
    if (a.device == device && a.kind != MemoryKind::Internal) all.push_back(a);
  for (const Allocation& a : all) deallocate(a.pointer, a.kind == MemoryKind::Host);
}

const Allocation* find_allocation(uint64_t p) {
  auto it = at_or_before(arena.live, p);
  if (it == arena.live.end()) return nullptr;
  const Allocation& a = it->second;
  return p >= a.pointer && p < a.pointer + std::max<size_t>(a.size, 1) ? &a : nullptr;
}

bool in_arena(uint64_t p) { return p >= arena.base && p < arena.end(); }

uint8_t* host_view(const Allocation& a, uint64_t p) {
  return reinterpret_cast<uint8_t*>(p + devices()[a.device].to_host);
}

bool enable_peer(int device, int peer, bool on) {
  Device& d = devices()[device];
  d.peer[peer] = on;
  if (device == peer) return true;
  for (auto& [begin, a] : arena.live) {
    if (a.device != peer || a.host_visible()) continue;
    if (!on) unmap(a.begin + d.to_host, a.end - a.begin);
    if (on && !map_shared(a.begin + d.to_host, a)) return false;
  }
  return true;
}

bool check_canaries(int device, std::string& message) {
  if (!arena.canaries) return true;
  for (auto& [begin, a] : arena.live) {
    uint64_t where;
    if (a.device != device || a.kind == MemoryKind::Internal || canary_intact(a, &where)) continue;
    const uint64_t end = a.pointer + a.size;
    message = text("write %lu byte(s) past the end of the ", static_cast<unsigned long>(where - end + 1)) + describe(a);
    fill_pattern(reinterpret_cast<void*>(end + devices()[device].to_host), arena.poison, a.end - end);
    return false;
  }
  return true;
}

std::string describe_address(int device, uint64_t p) {
  auto after = arena.live.upper_bound(p);
  const Allocation* before = after == arena.live.begin() ? nullptr : &std::prev(after)->second;
  if (before && p < before->end)
    return (before->device != device ? "memory of another device without peer access: " : "inside the ") +
           describe(*before);
  auto freed = at_or_before(arena.freed, p);
  if (freed != arena.freed.end() && p < freed->second.end) return "inside a freed " + describe(freed->second);
  if (before && p < before->end + kNear)
    return text("%lu bytes past the end of the ", static_cast<unsigned long>(p - before->pointer - before->size)) +
           describe(*before);
  if (after != arena.live.end() && p < after->second.pointer && after->second.pointer - p < kNear)
    return text("%lu bytes before the ", static_cast<unsigned long>(after->second.pointer - p)) +
           describe(after->second);
  if (p < kNear) return "null pointer plus offset";
  if (p / kAperture == arena.shared_aperture / kAperture || p / kAperture == arena.private_aperture / kAperture)
    return "flat LDS or private address out of bounds";
  return in_arena(p) ? "unmapped device address" : "not a device address (an ordinary host pointer?)";
}

int64_t live_allocations() { return arena.live_count; }
uint16_t poison() { return arena.poison; }
uint64_t shared_aperture() { return arena.shared_aperture; }
uint64_t private_aperture() { return arena.private_aperture; }

}  // namespace amdgpu
