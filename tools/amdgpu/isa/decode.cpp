// Disassembles, parses and binds instructions.
#include "isa/decode.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <algorithm>
#include <map>

#include "device/support.h"
#include "isa/number_format.h"
#include "isa/registry.h"
#include "isa/text.h"

namespace amdgpu {

namespace {

constexpr size_t kLongest = 20;  // bytes of the longest encoding

u64 decoded = 0;

LLVMDisasmContextRef context(const Arch& arch) {
  static auto& contexts = *new std::map<std::string, LLVMDisasmContextRef>;
  if (contexts.empty()) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  }
  LLVMDisasmContextRef& c = contexts[arch.gfx];
  if (!c)
    c = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", arch.gfx, arch.wave == 64 ? "" : "+wavefrontsize32", nullptr,
                                    0, nullptr, nullptr);
  return c;
}

void set_bits(Operand& o, u64 value) {
  o.lo = static_cast<u32>(value);
  o.hi32 = static_cast<u32>(value >> 32);
}

void bind_integer_constant(Operand& o, char type) {
  if (type == 'd' && o.literal)  // a 32-bit literal is the upper half of an f64
    return set_bits(o, o.integer >> 32 ? static_cast<u64>(o.integer) : static_cast<u64>(o.integer) << 32);
  if (type == 'i' && o.literal) o.integer = static_cast<i32>(o.integer);
  set_bits(o, static_cast<u64>(o.integer));
}

// The bits of 1/(2 pi) as f16, f32 and f64, and those of any other fraction.
void bind_fraction(Operand& o, char type) {
  const bool inverse = o.text == Operand::Text::Inverse2Pi;
  const auto single = static_cast<f32>(o.fraction);
  const u32 f = inverse ? 0x3e22f983 : bits<u32>(single);
  switch (type) {
    case 'd':
    case 'q':
    case 'i': return set_bits(o, inverse ? 0x3fc45f306dc9c882 : bits<u64>(o.fraction));
    case 'h':
    case 's':
    case 'p': o.lo = inverse ? 0x3118 : f32_to_f16(single); return;
    case 'b': o.lo = f >> 16; return;
    default: o.lo = o.hi32 = f;
  }
}

// Constants become bit patterns of the operand's type.
void bind_constant(Operand& o, char type) {
  if (o.kind != OperandKind::Constant) return;
  o.text == Operand::Text::Integer ? bind_integer_constant(o, type) : bind_fraction(o, type);
}

// Instructions that read op_sel themselves.
bool reads_op_sel(const std::string& name) {
  for (const char* prefix : {"v_permlane", "v_cvt_f32_", "v_cvt_pk_f32_", "v_cvt_sr_", "v_cvt_pk_fp8", "v_cvt_pk_bf8"})
    if (starts_with(name, prefix)) return true;
  return false;
}

// On gfx9, 16-bit results of these in their three-operand form leave the upper half; other 16-bit results clear it.
bool keeps_high_on_gfx9(const std::string& name) {
  for (const char* prefix : {"v_fma_f16", "v_mad_u16", "v_mad_i16", "v_div_fixup_f16", "v_med3_", "v_min3_", "v_max3_"})
    if (starts_with(name, prefix)) return true;
  return false;
}

class Binder {
 public:
  Binder(Inst& in, const Arch& arch, std::string& error) : in_(in), arch_(arch), error_(error) {}

  bool bind() {
    name_ = in_.name;
    if (bind_memory(in_, name_) || bind_matrix(in_, name_, arch_.isa)) {
      if (!starts_with(name_, "v_"))
        for (int i = 0; i < in_.op_count; i++) bind_constant(in_.op[i], 'w');
      return true;
    }
    strip_encoding();
    if (starts_with(name_, "v_dual_")) name_ = "v_" + name_.substr(7);
    if (!find_handler()) return false;
    bind_constants();
    bind_lanes();
    bind_op_sel();
    const bool gfx9 = arch_.isa == Isa::Cdna2 || arch_.isa == Isa::Cdna3;
    const bool keeps = in_.op_count >= 4 && !e64_ && keeps_high_on_gfx9(name_);
    in_.keep_high = !gfx9 || keeps || in_.op[0].high;
    return true;
  }

 private:
  void strip_encoding() {
    for (const char* suffix : {"_e64_dpp", "_e32", "_e64", "_dpp8", "_dpp", "_sdwa"}) {
      if (!ends_with(name_, suffix)) continue;
      e64_ = starts_with(suffix, "_e64");
      name_.resize(name_.size() - strlen(suffix));
      return;
    }
  }

  bool find_handler() {
    const Entry* entry = in_.clamp ? find(name_ + ".clamp") : nullptr;
    if (!entry) {
      entry = find(name_);
      const bool clamps =
          starts_with(name_, "v_cvt_f") || (entry && entry->types.find_first_of("fhdpmP") != std::string::npos);
      if (entry && in_.clamp && starts_with(name_, "v_") && !clamps) {
        error_ = "clamp on " + in_.name;
        return false;
      }
    }
    if (!entry) {
      error_ = "instruction '" + in_.text + "' is not emulated";
      return false;
    }
    in_.handler = entry->handler;
    types_ = entry->types;
    compares_ = starts_with(name_, "v_cmp");
    packed_ = types_.size() > 1 && strchr("pPm", types_[1]);
    // Comparisons and carries have more destinations than one, or none.
    first_source_ = compares_ ? in_.op_count - 2 : name_.find("_co_") != std::string::npos ? 2 : 1;
    return true;
  }

  void bind_constants() {
    if (compares_ && in_.op_count == 2 && !types_.empty()) types_.erase(0, 1);  // v_cmpx without a destination
    const char last = types_.empty() ? 'w' : types_.back();
    for (int i = 0; i < in_.op_count; i++) {
      const auto k = static_cast<size_t>(i);
      bind_constant(in_.op[i], k < types_.size() ? types_[k] : last);
    }
  }

  void bind_lanes() {
    in_.dpp_operand = static_cast<u8>(first_source_);
    for (int i = 0; i < 2; i++)
      if (in_.sdwa && in_.src_select[i] != 0xff) in_.op[first_source_ + i].select = in_.src_select[i];
  }

  void bind_op_sel() {
    if (!in_.has_op_sel) return;
    if (starts_with(name_, "v_cvt_f32_f16")) in_.op[1].high |= in_.op_sel & 1;
    if (packed_ || reads_op_sel(name_)) return;
    for (int i = 1; i < in_.op_count; i++) in_.op[first_source_ - 1 + i].high |= in_.op_sel >> (i - 1) & 1;
    if (!compares_) in_.op[0].high |= in_.op_sel >> (in_.op_count - 1) & 1;
  }

  Inst& in_;
  const Arch& arch_;
  std::string& error_;
  std::string name_, types_;
  bool e64_ = false, compares_ = false, packed_ = false;
  int first_source_ = 1;
};

bool parse_and_bind(Inst& in, const Arch& arch, const std::string& text, std::string& error) {
  if (parse(in, text, error) && Binder(in, arch, error).bind()) return true;
  in.handler = nullptr;
  return false;
}

// Both halves read their operands before either writes.
void run_dual(Wave& w, const Inst& in) {
  if (!in.reads_first_result) {
    in.first_handler(w, in);
    in.second->handler(w, *in.second);
    return;
  }
  u32 *row = w.row(in.op[0].r), before[kMaxLanes], result[kMaxLanes];
  const size_t bytes = w.lanes * sizeof(u32);
  memcpy(before, row, bytes);
  in.first_handler(w, in);
  memcpy(result, row, bytes);
  memcpy(row, before, bytes);
  in.second->handler(w, *in.second);
  memcpy(row, result, bytes);
}

bool bind_second(Inst& in, const Arch& arch, const std::string& text, std::string& error) {
  in.second = std::make_unique<Inst>();
  in.second->size = in.size;
  in.second->pc = in.pc;
  if (!parse_and_bind(*in.second, arch, text, error)) return false;
  for (int i = 1; i < in.second->op_count; i++)
    in.reads_first_result |= in.second->op[i].kind == OperandKind::Vector && in.second->op[i].r == in.op[0].r;
  in.first_handler = in.handler;
  in.handler = run_dual;
  return true;
}

}  // namespace

u64 decoded_count() { return decoded; }

std::unique_ptr<Inst> decode_any(const Arch& arch, const u8* code, size_t available, u64 pc, std::string& error) {
  char line[512] = {};
  auto* bytes = const_cast<u8*>(code);  // LLVM's interface forgot the const
  const size_t size = LLVMDisasmInstruction(context(arch), bytes, std::min(available, kLongest), pc, line, sizeof line);
  if (!size) {
    error = "not an instruction of this architecture";
    return nullptr;
  }
  decoded++;
  auto in = std::make_unique<Inst>();
  in->size = static_cast<u8>(size);
  in->pc = pc;
  memcpy(&in->raw, code, 4);
  if (size >= 8) memcpy(&in->literal, code + 4, 4);
  const std::string text = line;
  const size_t dual = text.find(" :: ");
  if (!parse_and_bind(*in, arch, text.substr(0, dual), error) || dual == std::string::npos) return in;
  if (!bind_second(*in, arch, text.substr(dual + 4), error)) in->handler = nullptr;
  in->text = text.substr(text.find_first_not_of(" \t"));
  return in;
}

std::unique_ptr<Inst> decode(const Arch& arch, const u8* code, size_t available, u64 pc, std::string& error) {
  auto in = decode_any(arch, code, available, pc, error);
  if (in && !in->handler) in.reset();
  return in;
}

}  // namespace amdgpu
