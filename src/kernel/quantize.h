// Between floats and small integers: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#pragma once
#include <string_view>

#include "kernel/kernel_spec.h"

namespace hf::kernel {

/// Integer types of kernels.
enum class Integer { U8, I8, U16, I16, I32 };
int size_of(Integer type);
/// Its name in the device header's C: "signed char".
std::string_view c_name(Integer type);
/// Text of the ranges of Integer types: constants LOW and HIGH, floats, for a type named by HF_INTEGER (0 to 3), and
/// quantized(v, zero): saturate(round half to even(v) + zero), LOW for NaN; requantized(sum, scale, zero): the same of
/// the exact product sum * scale.
extern const std::string_view kQuantized;

struct QuantizeProblem {
  bool to_integer = true;           // else from it
  int64_t count = 0;                // elements, > 0
  int64_t inner = 1, extent = 1;    // element i takes scale (i / inner) % extent; 1 and 1: all take the only one
  int64_t pitch = 0, channels = 0;  // of values that lie channels last: elements from `channels` on become zero
  Element real = Element::F32;
  Integer integer = Integer::U8;  // I32 only from it
  bool has_zero = false;
  Element quotient = Element::F32;  // to_integer: what v / scale is rounded to first
};

/// Arguments: input 0; input 1, float32 scales; input 2, the zero points, of the integer type, if there are any;
/// output 0. Throws Unsupported for 2^31 elements or more.
Candidates quantize(const QuantizeProblem& problem, const Target& target);

struct DynamicQuantizeProblem {
  int64_t count = 0;  // > 0
  Element real = Element::F32;
};

/// Two launches. Arguments: input 0; output 0, uint8; output 1, the scale, float32; output 2, the zero point, uint8.
std::vector<Candidates> dynamic_quantize(const DynamicQuantizeProblem& problem, const Target& target);

}  // namespace hf::kernel
