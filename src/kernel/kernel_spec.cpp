// Small helpers of kernel specifications.
#include "kernel/kernel_spec.h"

#include "base/error.h"
#include "kernel/device_header.h"

namespace hf::kernel {

std::string full_text(const KernelSpec& spec) {
  return device_header() + "#line 1 \"" + spec.family + ".hip\"\n" + spec.source;
}

int size_of(Element type) { return type == Element::F32 ? 4 : 2; }
int vector_of(Element type) { return 16 / size_of(type); }

uint32_t blocks_for(int64_t work, int64_t per_block) {
  int64_t blocks = work / per_block + (work % per_block != 0);
  if (blocks > INT32_MAX) fail(Code::Unsupported, "a kernel of {} blocks; at most {} fit a grid", blocks, INT32_MAX);
  return static_cast<uint32_t>(blocks);
}

}  // namespace hf::kernel
