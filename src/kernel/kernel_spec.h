// KernelSpec: a kernel as data. What lowering returns, what the gpu layer compiles, tunes and runs; it needs no device.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace hf::kernel {

/// What lowering may know of the device.
struct Target {
  std::string arch;  // "gfx942", "sm_90", "emu:gfx942"; for choosing, never for text: that is the device header's
  int wave_size = 64;
  int64_t lds_bytes = 65536;
  int compute_units = 1;
};

/// One argument of the entry, in order. Buffers are numbered within their kind.
struct Argument {
  enum class Kind { Input, Output, Packed, Workspace, Counters, Int32, Int64, Float32 };
  Kind kind = Kind::Input;
  int index = 0;        // Input, Output, Packed: which
  int64_t integer = 0;  // Int32, Int64: the value; Input, Output, Workspace: bytes after the buffer's beginning
  float number = 0;     // Float32: the value

  static Argument input(int index, int64_t offset = 0) {
    return {.kind = Kind::Input, .index = index, .integer = offset};
  }
  static Argument output(int index, int64_t offset = 0) {
    return {.kind = Kind::Output, .index = index, .integer = offset};
  }
  /// Constant data that lowering made of the node's constants: lower/lowering.h.
  static Argument packed(int index) { return {.kind = Kind::Packed, .index = index}; }
  static Argument workspace(int64_t offset = 0) { return {.kind = Kind::Workspace, .integer = offset}; }
  /// KernelSpec::counters words that are zero before the launch and that the kernel leaves zero.
  static Argument counters() { return {.kind = Kind::Counters}; }
  static Argument int32(int64_t value) { return {.kind = Kind::Int32, .integer = value}; }
  static Argument int64(int64_t value) { return {.kind = Kind::Int64, .integer = value}; }
  static Argument float32(float value) { return {.kind = Kind::Float32, .number = value}; }
};

struct KernelSpec {
  std::string family;                // "softmax": the key of tuning records, with `variant`
  std::string variant;               // which candidate of the family this is: "wave", "block"
  std::string source;                // text after the device header; no system headers
  std::string entry;                 // the kernel's name in it
  std::vector<std::string> defines;  // "HF_COLS=128": all start with HF_, so that none meets a compiler's own
  uint32_t grid[3] = {1, 1, 1};      // blocks
  uint32_t block[3] = {1, 1, 1};     // threads of a block; x a multiple of the wave size
  uint32_t lds_bytes = 0;            // what its LDS() declares
  std::vector<Argument> arguments;
  int64_t workspace_bytes = 0;  // of device memory, contents undefined; the Workspace arguments point into it
  int counters = 0;             // 32-bit words of device memory; the Counters argument points to them
};

/// Kernels that do the same, the one that heuristics expect to be fastest first. Never empty.
using Candidates = std::vector<KernelSpec>;

/// The text to compile: device header, then source.
std::string full_text(const KernelSpec& spec);

/// Element types of kernels, numbered as in the device header.
enum class Element { F32 = 0, F16 = 1, BF16 = 2 };
int size_of(Element type);
/// How many elements are one 16-byte vector.
int vector_of(Element type);

/// a / b rounded up. Throws Unsupported beyond a grid's 2^31 - 1 blocks.
uint32_t blocks_for(int64_t work, int64_t per_block);

}  // namespace hf::kernel
