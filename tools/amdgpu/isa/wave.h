// The state of one wave: registers, execution mask, where its memory is.
#pragma once
#include "device/arch.h"
#include "isa/types.h"

namespace amdgpu {

/// Scalar registers by index. Up to Exec they are the hardware's numbers; those from 128 on are our own numbering of
/// the special sources.
namespace reg {
constexpr u16 Vcc = 106;
constexpr u16 Ttmp = 108;
constexpr u16 M0 = 124;
constexpr u16 Null = 125;
constexpr u16 Exec = 126;
constexpr u16 SharedBase = 128;
constexpr u16 SharedLimit = 130;
constexpr u16 PrivateBase = 132;
constexpr u16 PrivateLimit = 134;
constexpr u16 Scc = 136;
constexpr u16 Vccz = 138;
constexpr u16 Execz = 140;
constexpr u16 FlatScratch = 142;
constexpr u16 XnackMask = 144;
constexpr u16 Count = 160;
}  // namespace reg

/// Why a wave stopped running.
enum class Stop : u8 { Running, Done, Barrier, Trap, Unknown, BadPc, Slice, Error };

constexpr u32 kMaxLanes = 64;
/// Accumulation registers (CDNA) follow the vector registers.
constexpr u32 kFirstAgpr = 256;

struct Wave {
  u32 s[reg::Count];  // scalar registers
  u64 pc;
  u32 lanes;         // 32 or 64
  u32* vgprs;        // [register][lane]
  u64 expanded_of;   // the execution mask that `expanded` holds
  u32 expanded[64];  // execution mask, one word of zeros or ones a lane
  u32 dpp_mask[64];  // lanes that the current DPP instruction writes
  u8* lds;
  u64 to_host;  // added to a device address it gives the host address
  u64 scratch;  // host address; linear for each lane
  u32 scratch_stride;
  u64 shared_aperture, private_aperture;  // device addresses of the flat apertures
  Isa isa;
  u32 mode;   // the MODE register
  u64 clock;  // instructions executed by the launch
  u32 id;
  Stop stop;
  bool done, at_barrier;
  const char* error;  // with Stop::Error: what cannot be emulated

  bool is_cdna() const { return isa == Isa::Cdna3 || isa == Isa::Cdna2; }
  u32* row(u32 r) const { return vgprs + static_cast<size_t>(r) * lanes; }
  u64 exec() const { return lanes == 64 ? s[reg::Exec] | u64{s[reg::Exec + 1]} << 32 : s[reg::Exec]; }
  /// The execution mask with one word a lane; valid until the mask changes.
  const u32* mask() {
    const u64 e = exec();
    if (e != expanded_of) {
      for (u32 l = 0; l < 64; l++) expanded[l] = -static_cast<u32>(e >> l & 1);
      expanded_of = e;
    }
    return expanded;
  }

  u32 read(u32 r) const {
    if (r < reg::Vccz || r >= reg::FlatScratch) return s[r];
    if (r == reg::Vccz) return !(s[reg::Vcc] | (lanes == 64 ? s[reg::Vcc + 1] : 0));
    return r == reg::Execz ? !exec() : 0;
  }
  void write(u32 r, u32 x) {
    if (r != reg::Null) s[r] = x;
  }
  u64 read64(u32 r) const { return r == reg::Null ? 0 : read(r) | u64{read(r + 1)} << 32; }
  void write64(u32 r, u64 x) {
    if (r == reg::Null) return;
    s[r] = static_cast<u32>(x);
    s[r + 1] = static_cast<u32>(x >> 32);
  }
  /// A lane mask: one register or a pair.
  u64 read_mask(u32 r) const { return lanes == 64 ? read64(r) : read(r); }
  void write_mask(u32 r, u64 x) { lanes == 64 ? write64(r, x) : write(r, static_cast<u32>(x)); }

  /// Ends the launch with "not emulated: <what>".
  void refuse(const char* what) {
    error = what;
    stop = Stop::Error;
  }
};

}  // namespace amdgpu
