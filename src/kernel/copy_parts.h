// What the copy kernels share.
#pragma once
#include "kernel/copy.h"

namespace hf::kernel::parts {

inline constexpr int kCopyThreads = 256;

inline bool is_padded(const CopyAxis& a) { return a.begin != 0 || a.valid != a.extent; }
/// The cells' names of source and destination: raw ones where the types are one.
std::string source_cell(const CopyProblem& p);
std::string target_cell(const CopyProblem& p);
/// Positions of the copy.
int64_t count_of(const std::vector<CopyAxis>& axes);
/// Offsets need 64 bits.
bool is_wide(const CopyProblem& p, const std::vector<CopyAxis>& axes);
/// The most elements, a power of two of at most 16 bytes of the larger type, that divide everything that may not be
/// cut: strides of the other axes, offset, extent.
int widest(int64_t bytes, std::initializer_list<int64_t> divided);

/// The kernel that transposes through LDS; none where the axes are not such.
Candidates copy_tiles(const CopyProblem& p, const std::vector<CopyAxis>& axes);

}  // namespace hf::kernel::parts
