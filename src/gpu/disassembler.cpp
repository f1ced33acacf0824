// Counting instructions with llvm-objdump.
#include <elf.h>

#include <algorithm>

#include "base/error.h"
#include "gpu/code_object.h"
#include "gpu/places.h"
#include "gpu/process.h"

namespace hf::gpu {
namespace {

constexpr size_t kMostText = size_t{256} << 20;
constexpr std::string_view kMatrix[] = {"v_mfma_", "v_smfmac_", "v_wmma_", "v_swmmac_", "v_dot"};

// The newest first: older ones do not know newer architectures.
std::vector<std::string> candidates() {
  std::vector<std::string> all;
  for (const std::string& folder : folders(rocm_clang_search()))
    if (std::filesystem::exists(folder + "/llvm-objdump")) all.push_back(folder + "/llvm-objdump");
  for (int version = 30; version >= 14; --version)
    if (auto found = find_program(fmt::format("llvm-objdump-{}", version))) all.push_back(*found);
  if (auto found = find_program("llvm-objdump")) all.push_back(*found);
  return all;
}

// The instructions of a line of disassembly begin it, after white space.
bool is_matrix(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::any_of(std::begin(kMatrix), std::end(kMatrix), [&](std::string_view m) { return line.starts_with(m); });
}

}  // namespace

std::optional<int> count_matrix_instructions(std::string_view code) {
  constexpr size_t kMachineAt = offsetof(Elf64_Ehdr, e_machine);
  constexpr char kAmdgpu = static_cast<char>(224);
  if (!code.starts_with(ELFMAG) || code.size() <= kMachineAt || code[kMachineAt] != kAmdgpu) return std::nullopt;
  static const std::vector<std::string> programs = candidates();
  if (programs.empty()) return std::nullopt;
  TemporaryFolder folder;
  std::string file = (folder.path() / "kernel.co").string();
  write_file(file, code);
  for (const std::string& program : programs) {
    ProcessResult r = run_process({program, "-d", "--no-show-raw-insn", file}, kMostText);
    if (r.status != 0 || r.output.size() >= kMostText || r.output.find("s_endpgm") == r.output.npos) continue;
    int count = 0;
    for (size_t at = 0; at < r.output.size();) {
      size_t end = std::min(r.output.find('\n', at), r.output.size());
      count += is_matrix(std::string_view(r.output).substr(at, end - at));
      at = end + 1;
    }
    return count;
  }
  return std::nullopt;
}

}  // namespace hf::gpu
