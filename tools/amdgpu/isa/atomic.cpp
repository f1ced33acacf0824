// Atomic operations on global memory, buffers and LDS. Lanes act one after another, from the first on.
#include <cmath>

#include "device/support.h"
#include "isa/address.h"

namespace amdgpu {

namespace {

// The new value of two packed halves.
template <f32 (*Widen)(u16), u16 (*Narrow)(f32)>
u32 add_halves(u32 a, u32 b) {
  auto half = [&](int shift) {
    return u32{Narrow(Widen(static_cast<u16>(a >> shift)) + Widen(static_cast<u16>(b >> shift)))} << shift;
  };
  return half(0) | half(16);
}

template <class T>
using Float = std::conditional_t<sizeof(T) == 8, f64, f32>;

// What memory holds afterwards; `other` is the comparison value, or the bits to set of a masked or.
template <class T>
T updated(AtomicOp op, T memory, T data, T other) {
  using Signed = std::make_signed_t<T>;
  const auto sm = static_cast<Signed>(memory), sd = static_cast<Signed>(data);
  const Float<T> fm = bits<Float<T>>(memory), fd = bits<Float<T>>(data);
  switch (op) {
    case AtomicOp::Add: return memory + data;
    case AtomicOp::Sub: return memory - data;
    case AtomicOp::ReverseSub: return data - memory;
    case AtomicOp::Swap: return data;
    case AtomicOp::CompareSwap: return memory == other ? data : memory;
    case AtomicOp::SignedMin: return sd < sm ? data : memory;
    case AtomicOp::UnsignedMin: return data < memory ? data : memory;
    case AtomicOp::SignedMax: return sd > sm ? data : memory;
    case AtomicOp::UnsignedMax: return data > memory ? data : memory;
    case AtomicOp::And: return memory & data;
    case AtomicOp::Or: return memory | data;
    case AtomicOp::Xor: return memory ^ data;
    case AtomicOp::Increment: return memory >= data ? 0 : memory + 1;
    case AtomicOp::Decrement: return memory == 0 || memory > data ? data : memory - 1;
    case AtomicOp::FloatAdd: return bits<T>(static_cast<Float<T>>(fm + fd));
    case AtomicOp::FloatMin: return bits<T>(std::fmin(fm, fd));
    case AtomicOp::FloatMax: return bits<T>(std::fmax(fm, fd));
    case AtomicOp::PackedF16Add:
      return add_halves<f16_to_f32, f32_to_f16>(static_cast<u32>(memory), static_cast<u32>(data));
    case AtomicOp::PackedBf16Add:
      return add_halves<bf16_to_f32, f32_to_bf16>(static_cast<u32>(memory), static_cast<u32>(data));
    case AtomicOp::MaskedOr: return (memory & ~data) | other;
    case AtomicOp::ConditionalSub: return memory >= data ? memory - data : memory;
    case AtomicOp::ClampedSub: return memory >= data ? memory - data : 0;
  }
  return memory;
}

// A lane's value in one register or two.
template <class T>
T read_lane(const Wave& w, u32 row, u32 lane) {
  if constexpr (sizeof(T) == 8)
    return w.row(row)[lane] | u64{w.row(row + 1)[lane]} << 32;
  else
    return w.row(row)[lane];
}
template <class T>
void write_lane(const Wave& w, u32 row, u32 lane, T v) {
  w.row(row)[lane] = static_cast<u32>(v);
  if constexpr (sizeof(T) == 8) w.row(row + 1)[lane] = static_cast<u32>(v >> 32);
}

// Rows of the operands; kNone where there is none.
struct Rows {
  static constexpr u32 kNone = ~0u;
  u32 result = kNone, data = 0, other = kNone;
};

template <class T>
void update(Wave& w, const Inst& in, const Addresses& r, const Rows& rows) {
  each_lane(r.lanes, [&](u32 l) {
    const T before = read_memory<T>(r.at[l]), data = read_lane<T>(w, rows.data, l);
    const T other = rows.other == Rows::kNone ? T{0} : read_lane<T>(w, rows.other, l);
    // A comparison that fails does not write.
    if (in.atomic != AtomicOp::CompareSwap || before == other)
      write_memory(r.at[l], updated<T>(in.atomic, before, data, other));
    if (rows.result != Rows::kNone) write_lane(w, rows.result, l, before);
  });
}

void update(Wave& w, const Inst& in, const Addresses& r, const Rows& rows) {
  in.width.bytes == 8 ? update<u64>(w, in, r, rows) : update<u32>(w, in, r, rows);
}

// Outside LDS, the comparison value follows the new one in the registers.
u32 comparison_row(const Inst& in, u32 data) {
  return in.atomic == AtomicOp::CompareSwap ? data + in.width.bytes / 4u : Rows::kNone;
}

struct Suffix {
  const char* text;
  u8 bytes;
  char sign;  // 'u', 'i' or none
};
constexpr Suffix kSuffixes[] = {{"_x2", 8, 0},  {"_b64", 8, 0},   {"_u64", 8, 'u'}, {"_i64", 8, 'i'},
                                {"_b32", 4, 0}, {"_u32", 4, 'u'}, {"_i32", 4, 'i'}};

struct NamedOp {
  const char* name;
  AtomicOp op;
};
constexpr NamedOp kOps[] = {
    {"add", AtomicOp::Add},
    {"sub", AtomicOp::Sub},
    {"rsub", AtomicOp::ReverseSub},
    {"swap", AtomicOp::Swap},
    {"wrxchg", AtomicOp::Swap},
    {"storexchg", AtomicOp::Swap},
    {"cmpswap", AtomicOp::CompareSwap},
    {"cmpst", AtomicOp::CompareSwap},
    {"cmpstore", AtomicOp::CompareSwap},
    {"smin", AtomicOp::SignedMin},
    {"umin", AtomicOp::UnsignedMin},
    {"smax", AtomicOp::SignedMax},
    {"umax", AtomicOp::UnsignedMax},
    {"and", AtomicOp::And},
    {"or", AtomicOp::Or},
    {"xor", AtomicOp::Xor},
    {"inc", AtomicOp::Increment},
    {"dec", AtomicOp::Decrement},
    {"add_f32", AtomicOp::FloatAdd},
    {"add_f64", AtomicOp::FloatAdd},
    {"pk_add_f16", AtomicOp::PackedF16Add},
    {"pk_add_bf16", AtomicOp::PackedBf16Add},
    {"fmin", AtomicOp::FloatMin},
    {"min_f32", AtomicOp::FloatMin},
    {"min_num_f32", AtomicOp::FloatMin},
    {"min_f64", AtomicOp::FloatMin},
    {"min_num_f64", AtomicOp::FloatMin},
    {"fmax", AtomicOp::FloatMax},
    {"max_f32", AtomicOp::FloatMax},
    {"max_num_f32", AtomicOp::FloatMax},
    {"max_f64", AtomicOp::FloatMax},
    {"max_num_f64", AtomicOp::FloatMax},
    {"mskor", AtomicOp::MaskedOr},
    {"cond_sub", AtomicOp::ConditionalSub},
    {"csub", AtomicOp::ConditionalSub},
    {"sub_clamp", AtomicOp::ClampedSub},
};

}  // namespace

// [result,] address, data [, scalar base]
void run_atomic(Wave& w, const Inst& in) {
  const int first = in.returns ? 1 : 0;
  Addresses r;
  flat_addresses(w, in, first, in.op_count > first + 2 ? first + 2 : 0, r);
  Rows rows;
  rows.data = in.op[first + 1].r;
  rows.other = comparison_row(in, rows.data);
  if (in.returns) rows.result = in.op[0].r;
  update(w, in, r, rows);
}

// The data's register receives the result.
void run_buffer_atomic(Wave& w, const Inst& in) {
  Addresses r;
  buffer_addresses(w, in, 1, in.width.bytes, r);
  Rows rows;
  rows.data = in.op[0].r;
  rows.other = comparison_row(in, rows.data);
  if (in.returns) rows.result = in.op[0].r;
  update(w, in, r, rows);
}

void run_lds_atomic(Wave& w, const Inst& in) {
  const int first = in.returns ? 1 : 0;
  Addresses r;
  lds_addresses(w, in.op[first], static_cast<u32>(in.offset), r);
  Rows rows;
  rows.data = in.op[first + 1].r;
  if (in.atomic == AtomicOp::CompareSwap || in.atomic == AtomicOp::MaskedOr) rows.other = in.op[first + 2].r;
  if (in.compare_first) std::swap(rows.data, rows.other);
  if (in.returns) rows.result = in.op[0].r;
  update(w, in, r, rows);
}

bool bind_atomic(Inst& in, std::string name) {
  in.width = {.bytes = static_cast<u8>(ends_with(name, "_f64") ? 8 : 4)};
  char sign = 0;
  for (const Suffix& s : kSuffixes) {
    if (!ends_with(name, s.text) || name.size() == strlen(s.text)) continue;
    name.resize(name.size() - strlen(s.text));
    in.width.bytes = s.bytes;
    sign = s.sign;
    break;
  }
  if (name == "min" || name == "max") {
    if (!sign) return false;
    name = (sign == 'i' ? "s" : "u") + name;
  }
  for (const NamedOp& n : kOps)
    if (name == n.name) {
      in.atomic = n.op;
      return true;
    }
  return false;
}

}  // namespace amdgpu
