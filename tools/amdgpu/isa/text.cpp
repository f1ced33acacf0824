// Parses the text of an instruction: "v_add_f32_e64 v1, -|v2|, s3 clamp mul:2".
#include "isa/text.h"

#include <cstdlib>
#include <vector>

#include "device/support.h"

namespace amdgpu {

namespace {

// ---- operands

struct NamedRegister {
  const char* name;
  u16 r;
  u8 registers;
};

constexpr NamedRegister kNamed[] = {
    {"vcc", reg::Vcc, 2},
    {"vcc_lo", reg::Vcc, 1},
    {"vcc_hi", reg::Vcc + 1, 1},
    {"exec", reg::Exec, 2},
    {"exec_lo", reg::Exec, 1},
    {"exec_hi", reg::Exec + 1, 1},
    {"m0", reg::M0, 1},
    {"null", reg::Null, 1},
    {"scc", reg::Scc, 1},
    {"src_scc", reg::Scc, 1},
    {"src_vccz", reg::Vccz, 1},
    {"src_execz", reg::Execz, 1},
    {"vccz", reg::Vccz, 1},
    {"execz", reg::Execz, 1},
    {"src_shared_base", reg::SharedBase, 2},
    {"src_shared_limit", reg::SharedLimit, 2},
    {"src_private_base", reg::PrivateBase, 2},
    {"src_private_limit", reg::PrivateLimit, 2},
    {"flat_scratch", reg::FlatScratch, 2},
    {"flat_scratch_lo", reg::FlatScratch, 1},
    {"flat_scratch_hi", reg::FlatScratch + 1, 1},
    {"xnack_mask", reg::XnackMask, 2},
    {"xnack_mask_lo", reg::XnackMask, 1},
    {"xnack_mask_hi", reg::XnackMask + 1, 1},
};

// Takes a prefix and a suffix off t, if both are there.
bool strip(std::string& t, const char* prefix, const char* suffix) {
  if (!starts_with(t, prefix) || !ends_with(t, suffix)) return false;
  const size_t front = strlen(prefix), back = strlen(suffix);
  t = t.substr(front, t.size() - front - back);
  return true;
}

// "v3", "v[2:5]", "a7", "s7", "ttmp9", "v3.h"; what is not a register leaves o alone.
bool parse_register(const std::string& t, Operand& o, bool& malformed) {
  u16 base = 0;
  size_t skip = 1;
  OperandKind kind = OperandKind::Vector;
  if (starts_with(t, "ttmp")) {
    base = reg::Ttmp;
    skip = 4;
    kind = OperandKind::Scalar;
  } else if (t[0] == 's') {
    kind = OperandKind::Scalar;
  } else if (t[0] == 'a') {
    base = kFirstAgpr;
  } else if (t[0] != 'v') {
    return false;
  }
  o.kind = kind;
  const char* s = t.c_str() + skip;
  char* end;
  const bool range = *s == '[';
  const long first = strtol(s + range, &end, 10);
  malformed = end == s + range;
  o.r = static_cast<u16>(base + first);
  if (range) {
    const long last = *end == ':' ? strtol(end + 1, &end, 10) : first;
    o.registers = static_cast<u8>(last - first + 1);
    malformed |= strcmp(end, "]") != 0;
  } else {
    o.high = strcmp(end, ".h") == 0;
    malformed |= *end && !o.high && strcmp(end, ".l") != 0;
  }
  return true;
}

bool parse_constant(std::string t, Operand& o) {
  o.kind = OperandKind::Constant;
  strip(t, "lit(", ")");
  const char* s = t.c_str();
  char* end;
  if (starts_with(t, "0x") || starts_with(t, "-0x")) {
    o.integer = static_cast<i64>(strtoull(s, &end, 16));
    o.literal = true;
  } else if (t.find('.') != std::string::npos) {
    o.fraction = strtod(s, &end);
    o.text = starts_with(t, "0.1591") ? Operand::Text::Inverse2Pi : Operand::Text::Fraction;
  } else {
    o.integer = strtoll(s, &end, 10);
  }
  return end != s && *end == 0;
}

// Signs and functions around an operand, then the operand itself.
bool parse_operand(std::string t, Operand& o) {
  // A sign before a digit belongs to the number.
  if (t.size() > 1 && t[0] == '-' && strchr("|vsatem", t[1])) {
    o.neg = true;
    t.erase(0, 1);
  }
  if (strip(t, "neg(", ")")) o.neg = true;
  if (strip(t, "|", "|") || strip(t, "abs(", ")")) o.abs = true;
  if (strip(t, "sext(", ")")) {
    o.sext = true;
    if (t[0] == '-') return false;
  }
  if (t == "off") {
    o.kind = OperandKind::Off;
    return true;
  }
  for (const NamedRegister& n : kNamed)
    if (t == n.name) {
      o.kind = OperandKind::Scalar;
      o.r = n.r;
      o.registers = n.registers;
      return true;
    }
  bool malformed = false;
  if (parse_register(t, o, malformed)) return !malformed;
  return parse_constant(t, o);
}

// ---- modifiers

// "[1,0,3]": the numbers, at most 8; the rest are 0.
struct Numbers {
  u32 at[8] = {};
  int count = 0;
};

Numbers parse_list(const std::string& v) {
  Numbers n;
  for (const char* s = v.c_str() + 1; n.count < 8;) {
    char* end;
    n.at[n.count++] = static_cast<u32>(strtol(s, &end, 0));
    if (*end != ',') break;
    s = end + 1;
  }
  return n;
}

i32 number(const std::string& v) { return static_cast<i32>(strtol(v.c_str(), nullptr, 0)); }

// A bit an element.
u8 bit_list(const std::string& v) {
  const Numbers n = parse_list(v);
  u8 mask = 0;
  for (int i = 0; i < n.count; i++) mask = static_cast<u8>(mask | (n.at[i] & 1) << i);
  return mask;
}

u8 selection(const std::string& v) {
  static constexpr const char* kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  for (u8 i = 0; i < 7; i++)
    if (v == kNames[i]) return i;
  return kSelectAll;
}

template <Dpp D>
void set_dpp(Inst& in, const std::string& v) {
  in.dpp = D;
  in.dpp_control = static_cast<u16>(number(v));
}

void set_quad_perm(Inst& in, const std::string& v) {
  const Numbers n = parse_list(v);
  in.dpp = Dpp::QuadPerm;
  in.dpp_control = static_cast<u16>(n.at[0] | n.at[1] << 2 | n.at[2] << 4 | n.at[3] << 6);
}

void set_dpp8(Inst& in, const std::string& v) {
  const Numbers n = parse_list(v);
  in.dpp = Dpp::Dpp8;
  for (int i = 0; i < 8; i++) in.dpp8_lanes |= u64{n.at[i]} << (4 * i);
  in.bound_control = true;
}

void set_unused(Inst& in, const std::string& v) {
  in.sdwa = true;
  in.dst_unused = v == "UNUSED_SEXT"       ? Inst::Unused::SignExtend
                  : v == "UNUSED_PRESERVE" ? Inst::Unused::Preserve
                                           : Inst::Unused::Pad;
}

template <int Source>
void set_source(Inst& in, const std::string& v) {
  in.sdwa = true;
  in.src_select[Source] = selection(v);
}

// Cache policy and the like: no effect here.
void ignore(Inst&, const std::string&) {}

struct Modifier {
  const char* name;
  void (*apply)(Inst&, const std::string& value);
};

constexpr Modifier kModifiers[] = {
    // memory
    {"offset", [](Inst& in, const std::string& v) { in.offset = starts_with(v, "swizzle(") ? 0 : number(v); }},
    {"offset0", [](Inst& in, const std::string& v) { in.offset = number(v); }},
    {"offset1", [](Inst& in, const std::string& v) { in.offset1 = number(v); }},
    {"glc", [](Inst& in, const std::string&) { in.returns = true; }},
    {"sc0", [](Inst& in, const std::string&) { in.returns = true; }},
    {"th", [](Inst& in, const std::string& v) { in.returns |= v.find("RETURN") != std::string::npos; }},
    {"gds", [](Inst& in, const std::string&) { in.gds = true; }},
    {"lds", [](Inst& in, const std::string&) { in.to_lds = true; }},
    {"offen", [](Inst& in, const std::string&) { in.offset_in_register = true; }},
    {"idxen", [](Inst& in, const std::string&) { in.index_in_register = true; }},
    {"slc", ignore},
    {"dlc", ignore},
    {"sc1", ignore},
    {"nt", ignore},
    {"nv", ignore},
    {"scc", ignore},
    {"scope", ignore},
    {"off", ignore},
    // arithmetic
    {"clamp", [](Inst& in, const std::string&) { in.clamp = true; }},
    {"mul", [](Inst& in, const std::string& v) { in.omod = v == "2" ? 1 : 2; }},
    {"div", [](Inst& in, const std::string&) { in.omod = 3; }},
    {"op_sel",
     [](Inst& in, const std::string& v) {
       in.op_sel = bit_list(v);
       in.has_op_sel = true;
     }},
    {"op_sel_hi", [](Inst& in, const std::string& v) { in.op_sel_hi = bit_list(v); }},
    {"neg_lo", [](Inst& in, const std::string& v) { in.neg_lo = bit_list(v); }},
    {"neg_hi", [](Inst& in, const std::string& v) { in.neg_hi = bit_list(v); }},
    {"neg", [](Inst& in, const std::string& v) { in.neg_lo = bit_list(v); }},
    {"byte_sel", [](Inst& in, const std::string& v) { in.byte_select = static_cast<u8>(number(v)); }},
    // matrices
    {"cbsz", [](Inst& in, const std::string& v) { in.cbsz = static_cast<u8>(number(v)); }},
    {"abid", [](Inst& in, const std::string& v) { in.abid = static_cast<u8>(number(v)); }},
    {"blgp", [](Inst& in, const std::string& v) { in.blgp = static_cast<u8>(number(v)); }},
    // lanes
    {"quad_perm", set_quad_perm},
    {"dpp8", set_dpp8},
    {"row_shl", set_dpp<Dpp::RowShl>},
    {"row_shr", set_dpp<Dpp::RowShr>},
    {"row_ror", set_dpp<Dpp::RowRor>},
    {"row_mirror", set_dpp<Dpp::RowMirror>},
    {"row_half_mirror", set_dpp<Dpp::RowHalfMirror>},
    {"row_bcast", [](Inst& in, const std::string& v) { in.dpp = number(v) == 15 ? Dpp::RowBcast15 : Dpp::RowBcast31; }},
    {"row_share", set_dpp<Dpp::RowShare>},
    {"row_newbcast", set_dpp<Dpp::RowShare>},
    {"row_xmask", set_dpp<Dpp::RowXmask>},
    {"wave_shl", set_dpp<Dpp::WaveShl>},
    {"wave_shr", set_dpp<Dpp::WaveShr>},
    {"wave_rol", set_dpp<Dpp::WaveRol>},
    {"wave_ror", set_dpp<Dpp::WaveRor>},
    {"row_mask", [](Inst& in, const std::string& v) { in.row_mask = static_cast<u8>(number(v)); }},
    {"bank_mask", [](Inst& in, const std::string& v) { in.bank_mask = static_cast<u8>(number(v)); }},
    {"bound_ctrl", [](Inst& in, const std::string&) { in.bound_control = true; }},
    {"fi", [](Inst& in, const std::string& v) { in.fetch_inactive = number(v); }},
    // SDWA
    {"dst_sel",
     [](Inst& in, const std::string& v) {
       in.sdwa = true;
       in.dst_select = selection(v);
     }},
    {"dst_unused", set_unused},
    {"src0_sel", set_source<0>},
    {"src1_sel", set_source<1>},
};

bool apply_modifier(Inst& in, const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), value = colon == std::string::npos ? "" : text.substr(colon + 1);
  for (const Modifier& m : kModifiers)
    if (name == m.name) {
      m.apply(in, value);
      return true;
    }
  return false;
}

// ---- the line

// The parts between separators outside of brackets; empty ones are left out.
std::vector<std::string> split_outside(const std::string& s, char separator) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : s + separator) {
    if (c == '[' || c == '(') depth++;
    if (c == ']' || c == ')') depth--;
    if (c == separator && depth <= 0) {
      if (!part.empty()) parts.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  return parts;
}

void trim(std::string& s) {
  for (const char* comment : {"//", " ;"}) {
    const size_t at = s.find(comment);
    if (at != std::string::npos) s.erase(at);
  }
  const size_t first = s.find_first_not_of(" \t"), last = s.find_last_not_of(" \t");
  s = first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

// Instructions whose operands are written in words; what is needed of them is taken from the encoding.
bool is_symbolic(const std::string& name) {
  for (const char* prefix : {"s_wait", "s_sendmsg", "s_delay_alu", "s_getreg", "s_setreg"})
    if (starts_with(name, prefix)) return true;
  return false;
}

bool parse_symbolic(Inst& in, const std::string& rest) {
  const size_t comma = rest.find(',');
  if (starts_with(in.name, "s_sendmsg_rtn_") || in.name == "s_getreg_b32") {
    in.op_count = 1;
    return parse_operand(rest.substr(0, comma), in.op[0]);
  }
  if (in.name == "s_setreg_b32") {
    in.op_count = 1;
    return parse_operand(rest.substr(comma + 2), in.op[0]);
  }
  return true;
}

}  // namespace

bool parse(Inst& in, std::string line, std::string& error) {
  trim(line);
  const size_t space = line.find(' ');
  in.text = line;
  in.name = line.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (is_symbolic(in.name)) return parse_symbolic(in, rest);

  const std::vector<std::string> parts = split_outside(rest, ',');
  for (size_t i = 0; i < parts.size(); i++) {
    const std::vector<std::string> words = split_outside(parts[i], ' ');
    for (size_t j = 0; j < words.size(); j++) {
      Operand o;
      if (j == 0 && in.op_count < kMaxOperands && parse_operand(words[0], o)) {
        in.op[in.op_count++] = o;
        continue;
      }
      // The first word of a part is a modifier only where no operand can follow.
      const bool may_be_modifier = j > 0 || i + 1 == parts.size() || words.size() > 1;
      if (may_be_modifier && apply_modifier(in, words[j])) continue;
      error = "cannot parse '" + words[j] + "' of '" + line + "'";
      return false;
    }
  }
  return true;
}

}  // namespace amdgpu
