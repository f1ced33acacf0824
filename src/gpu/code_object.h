// What a code object says of its kernels: registers, spills, memory, matrix instructions.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hf::gpu {

/// Absent members: the code object does not say.
struct KernelFacts {
  std::string name;
  std::optional<int64_t> vgprs;  // of a lane, accumulators included; NVIDIA: registers of a thread
  std::optional<int64_t> agprs;  // of them, accumulators
  std::optional<int64_t> sgprs;
  std::optional<int64_t> spills;         // registers kept in memory for want of room, vector and scalar
  std::optional<int64_t> private_bytes;  // of memory for a thread: stack and spills
  std::optional<int64_t> lds_bytes;      // that the code sizes; what a launch adds is not in it
  std::optional<int64_t> code_bytes;     // of its instructions
};

/// The kernels of an AMD or NVIDIA code object, from its metadata; none of a library for the emulator. Throws Compile
/// where the object is damaged. Any bytes are survived.
std::vector<KernelFacts> read_code_object(std::string_view code);

/// How many instructions of an AMD code object multiply matrices or take dot products (v_mfma, v_smfmac, v_wmma,
/// v_swmmac, v_dot), by llvm-objdump. Nothing without one that knows the architecture, or for other code objects.
std::optional<int> count_matrix_instructions(std::string_view code);

}  // namespace hf::gpu
