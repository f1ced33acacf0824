// Executes single instructions on random and special data and compares the results of two runs: two versions of the
// emulator, two architectures, or two implementations.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace amdgpu::forms {

/// All forms of a file like forms.txt.
std::vector<std::string> read_forms(const std::string& path);
/// Those that the assembler takes.
std::vector<std::string> accepted(const std::vector<std::string>& forms, const std::string& arch,
                                  const std::string& folder);
/// A HIP program with a kernel t_<i> for each form.
std::string program(const std::vector<std::string>& forms, const std::string& arch);

struct Result {
  std::string form;
  int32_t status = 0;
  std::vector<uint32_t> words;
};
void write_results(const std::string& path, const std::vector<Result>& results);
std::vector<Result> read_results(const std::string& path);
/// Prints what differs among the forms that both have; true if nothing does but NaN payloads and two units in the last
/// place.
bool compare(const std::vector<Result>& a, const std::vector<Result>& b);

}  // namespace amdgpu::forms
