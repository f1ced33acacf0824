// Element types: ONNX's numbers, sizes and names, and the conversions of the small float formats.
#pragma once
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hf {

/// ONNX's TensorProto.DataType, with its numbers.
enum class DType : uint8_t {
  Undefined = 0,
  F32 = 1,
  U8 = 2,
  I8 = 3,
  U16 = 4,
  I16 = 5,
  I32 = 6,
  I64 = 7,
  String = 8,
  Bool = 9,
  F16 = 10,
  F64 = 11,
  U32 = 12,
  U64 = 13,
  C64 = 14,
  C128 = 15,
  BF16 = 16,
  F8E4M3FN = 17,
  F8E4M3FNUZ = 18,
  F8E5M2 = 19,
  F8E5M2FNUZ = 20,
  U4 = 21,
  I4 = 22,
  F4E2M1 = 23,
  F8E8M0 = 24,
  U2 = 25,
  I2 = 26,
};
inline constexpr int kDTypeCount = 27;

/// Bits of one element: 2, 4, 8, ... 128; 0 for Undefined and String.
int bits(DType t);
/// ONNX's name in lower case: "float32", "float16", "int64", "string", ...
std::string_view name(DType t);
/// The type with this name ("float32"; also "float", "half", "double"); none if there is no such type.
std::optional<DType> dtype_from_name(std::string_view name);

bool is_float(DType t);         // F16, BF16, F32, F64 and the float8/float4 formats
bool is_signed_int(DType t);    // I2 .. I64
bool is_unsigned_int(DType t);  // U2 .. U64
inline bool is_int(DType t) { return is_signed_int(t) || is_unsigned_int(t); }
inline bool is_sub_byte(DType t) { return bits(t) == 4 || bits(t) == 2; }

/// A 16- or 8-bit float as stored. Conversion to and from float rounds to nearest even (IEEE 754-2019; the float8 and
/// float4 formats by the OCP 8-bit and MX specifications as ONNX states them).
struct Half {
  uint16_t raw;
};
struct BFloat16 {
  uint16_t raw;
};

float to_float(Half h);
Half to_half(float f);
inline float to_float(BFloat16 b) { return std::bit_cast<float>(static_cast<uint32_t>(b.raw) << 16); }
BFloat16 to_bfloat16(float f);

/// Any float8/float4 format, by its DType. `saturate` as ONNX's Cast attribute (to the largest finite value).
float small_float_to_float(DType t, uint8_t raw);
uint8_t float_to_small_float(DType t, float f, bool saturate = true);

}  // namespace hf
