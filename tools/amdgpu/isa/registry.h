// The table of instruction handlers by mnemonic, filled by one function a subject.
#pragma once
#include <string>
#include <string_view>

#include "isa/inst.h"

namespace amdgpu {

/// A handler, and the type of each operand, destination first (an operand after the last takes the last's type). The
/// type says how a constant is turned into bits:
///   w 32 bits   f f32   d f64   q 64 bits   i signed 64 bits   h f16   s 16 bits   b bf16
///   p packed f16   P packed integers   m mixed precision
struct Entry {
  Handler handler;
  std::string types;
};

/// Adds a mnemonic without its encoding suffix. "name.clamp" is taken when the clamp modifier is given.
void add(std::string_view name, Handler handler, std::string_view types);
/// Null for a mnemonic that is not emulated.
const Entry* find(const std::string& name);

void add_control();
void add_scalar();
void add_scalar_float();
void add_vector_f32();
void add_vector_f64();
void add_vector_f16();
void add_vector_compare();
void add_vector_convert();
void add_vector_carry();
void add_vector_integer();
void add_vector_packed();
void add_vector_dot();
void add_vector_float8();
void add_lanes();

/// Memory and matrix instructions are recognised by the parts of their name. False: not of this kind, or not emulated.
bool bind_memory(Inst& in, const std::string& name);
bool bind_matrix(Inst& in, const std::string& name, Isa isa);

}  // namespace amdgpu
