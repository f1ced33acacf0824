// The kernels of the driver suite.
#pragma once
#include "gpu/compiler.h"
#include "kernel/device_header.h"

namespace hf::gpu {

inline const char* const kSuiteKernels = R"hip(
KERNEL(256, 1) vector_add(const float* a, const float* b, float* c, int n) {
  int i = block_x() * 256 + thread_x();
  if (i < n) c[i] = a[i] + b[i];
}
KERNEL(256, 1) set_all(int* p, int value, int n) {
  int i = block_x() * 256 + thread_x();
  if (i < n) p[i] = value;
}
KERNEL(256, 1) times_two_plus(int* p, int value, int n) {
  int i = block_x() * 256 + thread_x();
  if (i < n) p[i] = p[i] * 2 + value;
}
// Blocks of 16 x 16 threads in a grid of columns x rows x layers.
KERNEL(256, 1) where(int* p, int width, int height) {
  int x = block_x() * 16 + thread_x(), y = block_y() * 16 + thread_y();
  p[(block_z() * height + y) * width + x] = block_z() * 1000000 + y * 1000 + x;
}
// Each block sums 256 numbers through LDS.
KERNEL(256, 1) block_sum(const int* p, int* sums) {
  LDS(lds, 1024);
  int* s = (int*)lds;
  int t = thread_x();
  s[t] = p[block_x() * 256 + t];
  for (int half = 128; half; half >>= 1) {
    barrier();
    if (t < half) s[t] += s[t + half];
  }
  if (t == 0) sums[block_x()] = s[0];
}
KERNEL(256, 1) lanes(int* p, u32* wave) {
  int t = thread_x();
  p[t] = (int)shuffle((u32)t, (lane_id() + 1) % WAVE);
  p[256 + t] = lane_id();
  if (t == 0) *wave = WAVE;
}
KERNEL(256, 1) count_up(u32* counter) { atomic_add(counter, 1); }
struct mixed { int a; double b; float c[3]; u8 d; };
KERNEL(256, 1) arguments(double* out, mixed m, short s, u8 small, i64 big) {
  if (thread_x() == 0) {
    out[0] = m.a; out[1] = m.b; out[2] = m.c[2]; out[3] = m.d; out[4] = s; out[5] = small; out[6] = (double)big;
  }
}
)hip";

inline Source suite_source() {
  return {
      .name = "driver_suite",
      .text = kernel::device_header() + kSuiteKernels,
      .entries = {"vector_add", "set_all", "times_two_plus", "where", "block_sum", "lanes", "count_up", "arguments"},
      .defines = {}};
}

inline std::string suite_code(const std::string& arch) { return compile(suite_source(), arch).bytes; }

}  // namespace hf::gpu
