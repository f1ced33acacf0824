// Program flow, barriers, waits, hardware registers.
#include "isa/number_format.h"
#include "isa/registry.h"

namespace amdgpu {

namespace {

constexpr u32 kClocksPerInstruction = 4;

u64 branch_target(const Inst& in) { return in.pc + 4 + static_cast<u64>(i64{static_cast<i16>(in.raw)} * 4); }

bool always(const Wave&) { return true; }
bool scc_clear(const Wave& w) { return !w.s[reg::Scc]; }
bool scc_set(const Wave& w) { return w.s[reg::Scc]; }
bool vcc_zero(const Wave& w) { return !w.read_mask(reg::Vcc); }
bool vcc_nonzero(const Wave& w) { return w.read_mask(reg::Vcc); }
bool exec_zero(const Wave& w) { return !w.exec(); }
bool exec_nonzero(const Wave& w) { return w.exec(); }

template <bool (*Condition)(const Wave&)>
void branch(Wave& w, const Inst& in) {
  if (Condition(w)) w.pc = branch_target(in);
}

void no_operation(Wave&, const Inst&) {}
void end_program(Wave& w, const Inst&) { w.stop = Stop::Done; }
void barrier(Wave& w, const Inst&) { w.stop = Stop::Barrier; }
void trap(Wave& w, const Inst&) { w.stop = Stop::Trap; }

// The barrier of the workgroup is number -1; s_barrier_wait does the waiting.
void signal_barrier(Wave& w, const Inst& in) {
  if (in.op[0].kind != OperandKind::Constant || in.op[0].integer != -1) w.refuse("named barriers are not emulated");
}

void get_pc(Wave& w, const Inst& in) { w.write64(in.op[0].r, w.pc); }
void set_pc(Wave& w, const Inst& in) { w.pc = w.read64(in.op[0].r); }
void swap_pc(Wave& w, const Inst& in) {
  const u64 target = w.read64(in.op[1].r);
  w.write64(in.op[0].r, w.pc);
  w.pc = target;
}
void call(Wave& w, const Inst& in) {
  w.write64(in.op[0].r, w.pc);
  w.pc = branch_target(in);
}

u64 clock_of(const Wave& w) { return w.clock * kClocksPerInstruction; }
void read_clock(Wave& w, const Inst& in) { w.write64(in.op[0].r, clock_of(w)); }

// The message is an 8-bit source field. Only the clock has an answer.
void send_message_return(Wave& w, const Inst& in) {
  constexpr u32 kGetRealTime = 131;
  if ((in.raw & 0xff) == kGetRealTime) return read_clock(w, in);
  w.write(in.op[0].r, 0);
  if (in.name.back() == '4') w.write(in.op[0].r + 1, 0);
}

// ---- hardware registers: number in bits 0 to 5, first bit in 6 to 10, width less one in 11 to 15

enum HardwareRegister : u32 {
  Mode = 1,
  HwId = 4,
  FlatScratchLow = 20,
  FlatScratchHigh = 21,
  ClockLow = 29,
  ClockHigh = 30
};

u32 hardware_register(const Wave& w, u32 number) {
  if (number == Mode) return w.mode;
  if (w.is_cdna()) return number == HwId ? w.id & 15 : 0;
  switch (number) {
    case FlatScratchLow: return w.s[reg::FlatScratch];
    case FlatScratchHigh: return w.s[reg::FlatScratch + 1];
    case ClockLow: return static_cast<u32>(clock_of(w));
    case ClockHigh: return static_cast<u32>(clock_of(w) >> 32);
  }
  return 0;
}

struct Field {
  u32 number, offset, width;
  explicit Field(u32 raw) : number(raw & 63), offset(raw >> 6 & 31), width((raw >> 11 & 31) + 1) {}
  u32 mask() const { return width < 32 ? (1u << width) - 1 : ~0u; }
};

void set_mode(Wave& w, u32 mode) {
  constexpr u32 kFloat32Fields = 0x3f;
  if ((mode ^ w.mode) & kFloat32Fields) apply_mode(mode);
  w.mode = mode;
}

void get_register(Wave& w, const Inst& in) {
  const Field f(in.raw);
  w.write(in.op[0].r, hardware_register(w, f.number) >> f.offset & f.mask());
}
void set_hardware_register(Wave& w, const Inst& in, u32 x) {
  const Field f(in.raw);
  const u32 mask = f.mask() << f.offset;
  if (f.number == Mode)
    set_mode(w, (w.mode & ~mask) | (x << f.offset & mask));
  else if (w.isa == Isa::Rdna2 && (f.number == FlatScratchLow || f.number == FlatScratchHigh))
    w.s[reg::FlatScratch + f.number - FlatScratchLow] = x;
}
void set_register(Wave& w, const Inst& in) { set_hardware_register(w, in, w.read(in.op[0].r)); }
void set_register_literal(Wave& w, const Inst& in) { set_hardware_register(w, in, in.literal); }
void set_rounding(Wave& w, const Inst& in) { set_mode(w, (w.mode & ~15u) | (in.raw & 15)); }
void set_denormals(Wave& w, const Inst& in) { set_mode(w, (w.mode & ~0xf0u) | (in.raw & 15) << 4); }

// Waits and cache operations: memory is always up to date here.
constexpr const char* kNoOperation[] = {
    "buffer_gl0_inv",
    "buffer_gl1_inv",
    "buffer_inv",
    "buffer_invl2",
    "buffer_wbinvl1",
    "buffer_wbinvl1_vol",
    "buffer_wbl2",
    "ds_nop",
    "global_inv",
    "global_wb",
    "global_wbinv",
    "s_clause",
    "s_code_end",
    "s_dcache_inv",
    "s_dcache_inv_vol",
    "s_dcache_wb",
    "s_decperflevel",
    "s_delay_alu",
    "s_gl1_inv",
    "s_icache_inv",
    "s_incperflevel",
    "s_inst_prefetch",
    "s_nop",
    "s_prefetch_buffer_data",
    "s_prefetch_data",
    "s_prefetch_data_pc_rel",
    "s_prefetch_inst",
    "s_prefetch_inst_pc_rel",
    "s_sendmsg",
    "s_set_inst_prefetch_distance",
    "s_sethalt",
    "s_setprio",
    "s_sleep",
    "s_sleep_var",
    "s_ttracedata",
    "s_ttracedata_imm",
    "s_version",
    "s_wait_alu",
    "s_wait_bvhcnt",
    "s_wait_dscnt",
    "s_wait_event",
    "s_wait_expcnt",
    "s_wait_idle",
    "s_wait_kmcnt",
    "s_wait_loadcnt",
    "s_wait_loadcnt_dscnt",
    "s_wait_samplecnt",
    "s_wait_storecnt",
    "s_wait_storecnt_dscnt",
    "s_waitcnt",
    "s_waitcnt_depctr",
    "s_waitcnt_expcnt",
    "s_waitcnt_lgkmcnt",
    "s_waitcnt_vmcnt",
    "s_waitcnt_vscnt",
    "s_wakeup",
    "v_nop",
    "v_pipeflush",
};

struct Named {
  const char* name;
  Handler handler;
  const char* types;
};
constexpr Named kTable[] = {
    {"s_endpgm", end_program, ""},
    {"s_endpgm_saved", end_program, ""},
    {"s_branch", branch<always>, ""},
    {"s_cbranch_scc0", branch<scc_clear>, ""},
    {"s_cbranch_scc1", branch<scc_set>, ""},
    {"s_cbranch_vccz", branch<vcc_zero>, ""},
    {"s_cbranch_vccnz", branch<vcc_nonzero>, ""},
    {"s_cbranch_execz", branch<exec_zero>, ""},
    {"s_cbranch_execnz", branch<exec_nonzero>, ""},
    {"s_barrier", barrier, ""},
    {"s_barrier_wait", barrier, ""},
    {"s_barrier_signal", signal_barrier, "w"},
    {"s_getpc_b64", get_pc, "q"},
    {"s_setpc_b64", set_pc, "q"},
    {"s_swappc_b64", swap_pc, "qq"},
    {"s_call_b64", call, "q"},
    {"s_trap", trap, ""},
    {"s_memtime", read_clock, "q"},
    {"s_memrealtime", read_clock, "q"},
    {"s_sendmsg_rtn_b32", send_message_return, "w"},
    {"s_sendmsg_rtn_b64", send_message_return, "q"},
    {"s_getreg_b32", get_register, "w"},
    {"s_setreg_b32", set_register, "w"},
    {"s_setreg_imm32_b32", set_register_literal, ""},
    {"s_round_mode", set_rounding, ""},
    {"s_denorm_mode", set_denormals, ""},
};

}  // namespace

void add_control() {
  for (const char* name : kNoOperation) add(name, no_operation, "");
  for (const Named& n : kTable) add(n.name, n.handler, n.types);
}

}  // namespace amdgpu
