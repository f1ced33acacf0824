// Elements of any type as text.
#include "kernel/cells.h"

#include <fmt/core.h>

#include "base/error.h"

namespace hf::kernel {

const std::string_view kCells = R"hip(
DEV i64 to_whole(float v) {
  if (v != v) return 0;
  return v >= 0x1p63f ? (i64)0x7fffffffffffffffull : v <= -0x1p63f ? (i64)0x8000000000000000ull : (i64)v;
}
template <class S> struct whole_cell {
  typedef S type;
  DEV i64 value(S v) { return (i64)v; }
  DEV S of(i64 v) { return (S)v; }
  DEV S of(float v) { return (S)to_whole(v); }
};
typedef whole_cell<signed char> cell_i8;
typedef whole_cell<u8> cell_u8;
typedef whole_cell<short> cell_i16;
typedef whole_cell<u16> cell_u16;
typedef whole_cell<int> cell_i32;
typedef whole_cell<u32> cell_u32;
typedef whole_cell<i64> cell_i64;
struct cell_bool {
  typedef u8 type;
  DEV i64 value(u8 v) { return v != 0; }
  DEV u8 of(i64 v) { return v != 0; }
  DEV u8 of(float v) { return v != 0.f; }
};
template <int T> struct real_cell {
  typedef typename element<T>::type type;
  DEV float value(type v) { return element<T>::load(v); }
  DEV type of(float v) { return element<T>::store(v); }
  DEV type of(i64 v) { return element<T>::store((float)v); }
};
typedef real_cell<HF_F32> cell_f32;
typedef real_cell<HF_F16> cell_f16;
typedef real_cell<HF_BF16> cell_bf16;

// Moved without a look at them.
template <class S> struct raw_cell {
  typedef S type;
  DEV S value(S v) { return v; }
  DEV S of(S v) { return v; }
};
typedef raw_cell<u8> raw_1;
typedef raw_cell<u16> raw_2;
typedef raw_cell<u32> raw_4;
typedef raw_cell<u64> raw_8;

// An element from its bits.
template <class S> DEV void set_bits(S& v, u64 bits) { v = (S)bits; }
DEV void set_bits(float& v, u64 bits) { v = as_float((u32)bits); }

// BYTES at once, from and to addresses that are aligned to as many.
template <int BYTES> DEV void move_bytes(void* to, const void* from) {
#if HF_CUDA
  if constexpr (BYTES == 16) *(u32x4*)to = *(const u32x4*)from;
  else if constexpr (BYTES == 8) *(u64*)to = *(const u64*)from;
  else if constexpr (BYTES == 4) *(u32*)to = *(const u32*)from;
  else if constexpr (BYTES == 2) *(u16*)to = *(const u16*)from;
  else if constexpr (BYTES == 1) *(u8*)to = *(const u8*)from;
  else for (int i = 0; i < BYTES; i += 16) ((u32x4*)to)[i / 16] = ((const u32x4*)from)[i / 16];
#else
  constexpr int AT = BYTES < 16 ? BYTES : 16;
  __builtin_memcpy(__builtin_assume_aligned(to, AT), __builtin_assume_aligned(from, AT), BYTES);
#endif
}
)hip";

namespace {

struct Entry {
  DType dtype;
  std::string_view name;
};
constexpr Entry kEntries[] = {
    {DType::BF16, "cell_bf16"}, {DType::Bool, "cell_bool"}, {DType::F16, "cell_f16"}, {DType::F32, "cell_f32"},
    {DType::I16, "cell_i16"},   {DType::I32, "cell_i32"},   {DType::I64, "cell_i64"}, {DType::I8, "cell_i8"},
    {DType::U16, "cell_u16"},   {DType::U32, "cell_u32"},   {DType::U8, "cell_u8"},
};

const Entry* find(DType dtype) {
  for (const Entry& e : kEntries)
    if (e.dtype == dtype) return &e;
  return nullptr;
}

}  // namespace

bool has_cell(DType dtype) { return find(dtype) != nullptr; }

std::string cell(DType dtype) {
  const Entry* e = find(dtype);
  check(e, "an element type that is a number to kernels");
  return std::string(e->name);
}

std::string raw_cell(int bytes) {
  check(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8, "an element of 1, 2, 4 or 8 bytes");
  return fmt::format("raw_{}", bytes);
}

bool is_real_cell(DType dtype) { return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16; }

}  // namespace hf::kernel
