// A decoded instruction: operands, modifiers and the handler that executes it.
#pragma once
#include <memory>
#include <string>

#include "isa/wave.h"

namespace amdgpu {

enum class OperandKind : u8 { None, Scalar, Vector, Constant, Off };

/// SDWA selections: 0-3 bytes, 4-5 halves, 6 the whole register.
constexpr u8 kSelectAll = 6;

struct Operand {
  OperandKind kind = OperandKind::None;
  u8 registers = 1;
  bool neg = false, abs = false, sext = false, literal = false;
  u8 high = 0;  // the upper half of a 16-bit operand
  u8 select = kSelectAll;
  /// Written as a decimal fraction; Inverse2Pi is the inline constant 1/(2 pi), whose bits are not those of its text.
  enum class Text : u8 { Integer, Fraction, Inverse2Pi } text = Text::Integer;
  u16 r = 0;             // register: scalar by Wave's numbering, vector with accumulation registers from kFirstAgpr on
  u32 lo = 0, hi32 = 0;  // bits of a constant, once its type is known
  f64 fraction = 0;
  i64 integer = 0;
};

enum class Dpp : u8 {
  None,
  QuadPerm,
  RowShl,
  RowShr,
  RowRor,
  RowMirror,
  RowHalfMirror,
  RowBcast15,
  RowBcast31,
  RowShare,
  RowXmask,
  Dpp8,
  WaveShl,
  WaveShr,
  WaveRol,
  WaveRor
};

/// How a value narrower than a register is loaded or stored.
struct Width {
  u8 bytes = 0;
  bool sign = false;       // sign-extended
  bool low_half = false;   // d16: the upper half of the register is kept
  bool high_half = false;  // d16_hi: the lower half is kept
};

enum class Segment : u8 { None, Flat, Global, Scratch };

enum class AtomicOp : u8 {
  Add,
  Sub,
  ReverseSub,
  Swap,
  CompareSwap,
  SignedMin,
  UnsignedMin,
  SignedMax,
  UnsignedMax,
  And,
  Or,
  Xor,
  Increment,
  Decrement,
  FloatAdd,
  FloatMin,
  FloatMax,
  PackedF16Add,
  PackedBf16Add,
  MaskedOr,
  ConditionalSub,
  ClampedSub
};

/// Element types of the matrix instructions.
enum class Element : u8 { F16, Bf16, F32, I8, U8, I4, U4, Fp8, Bf8, F64 };

struct Inst;
using Handler = void (*)(Wave&, const Inst&);

constexpr int kMaxOperands = 7;

struct Inst {
  Handler handler = nullptr;
  u8 size = 4;  // bytes
  u8 op_count = 0;
  Operand op[kMaxOperands];  // as written: the destination first

  // vector arithmetic
  bool clamp = false;
  u8 omod = 0;  // 1: times 2, 2: times 4, 3: half
  bool has_op_sel = false;
  u8 op_sel = 0, op_sel_hi = 0xff, neg_lo = 0, neg_hi = 0;
  bool keep_high = false;  // a 16-bit result leaves the other half of its register
  Dpp dpp = Dpp::None;
  u16 dpp_control = 0;
  u64 dpp8_lanes = 0;  // a nibble a lane
  u8 dpp_operand = 0;  // the operand that DPP permutes
  u8 row_mask = 15, bank_mask = 15;
  bool bound_control = false, fetch_inactive = false;
  bool sdwa = false;
  u8 dst_select = kSelectAll;
  enum class Unused : u8 { Pad, SignExtend, Preserve } dst_unused = Unused::Pad;
  u8 src_select[2] = {0xff, 0xff};  // 0xff: not given
  u8 byte_select = 0;

  // memory
  Width width;
  Segment segment = Segment::None;
  AtomicOp atomic = AtomicOp::Add;
  bool returns = false;  // an atomic that returns the old value
  bool offset_in_register = false, index_in_register = false;
  bool buffer = false, gds = false, to_lds = false;
  bool compare_first = false;  // compare-and-store names the comparison value before the new one
  u8 address_scale = 0;        // ds_load_2addr: 1 or 64 elements
  i32 offset = 0, offset1 = 0;

  // matrix
  u8 cbsz = 0, abid = 0, blgp = 0;
  u8 rows = 0, depth = 0;
  Element a_type = Element::F16, b_type = Element::F16, result_type = Element::F32;

  u32 raw = 0, literal = 0;  // first word of the encoding, and the second
  u64 pc = 0;
  std::string name, text;

  // VOPD: two instructions in one
  std::unique_ptr<Inst> second;
  Handler first_handler = nullptr;
  bool reads_first_result = false;
};

}  // namespace amdgpu
