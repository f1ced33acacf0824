// hipRTC: compilation, logs, templates by name expressions, headers, what the prelude offers, matrix cores.
#include <cmath>

#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class EachRtc : public OnEachArch {};
INSTANTIATE_TEST_SUITE_P(, EachRtc, kArchs, arch_name);
class Rtc : public WithKernels {};

struct Result {
  std::string code, log;
  std::vector<std::string> lowered;
};

// Compiles with a header "my/header.h". The names are expressions whose symbols are wanted.
Result compile(const std::string& source, std::vector<std::string> options, int expected = 0,
               const std::vector<const char*>& names = {}) {
  Result r;
  Program p = nullptr;
  const char* headers[] = {"#define FROM_HEADER 41\n"};
  const char* include_names[] = {"my/header.h"};
  EXPECT_OK(hiprtcCreateProgram(&p, source.c_str(), "test.cu", 1, headers, include_names));
  for (const char* n : names) EXPECT_OK(hiprtcAddNameExpression(p, n));
  std::vector<const char*> list;
  for (const std::string& o : options) list.push_back(o.c_str());
  EXPECT_EQ(hiprtcCompileProgram(p, static_cast<int>(list.size()), list.data()), expected);
  size_t n = 0;
  EXPECT_OK(hiprtcGetProgramLogSize(p, &n));
  r.log.resize(n);
  if (n) EXPECT_OK(hiprtcGetProgramLog(p, r.log.data()));
  if (expected) {
    EXPECT_EQ(hiprtcGetCodeSize(p, &n), 4);
    EXPECT_FALSE(r.log.empty());
  } else {
    EXPECT_OK(hiprtcGetCodeSize(p, &n));
    r.code.resize(n);
    EXPECT_OK(hiprtcGetCode(p, r.code.data()));
    for (const char* name : names) {
      const char* lowered = nullptr;
      EXPECT_OK(hiprtcGetLoweredName(p, name, &lowered));
      r.lowered.push_back(lowered ? lowered : "");
    }
  }
  EXPECT_OK(hiprtcDestroyProgram(&p));
  EXPECT_EQ(p, nullptr);
  return r;
}

std::string arch_option() { return "--offload-arch=" + arch(); }

ModuleHandle load_image(const std::string& code) {
  ModuleHandle m = nullptr;
  EXPECT_OK(hipModuleLoadData(&m, code.data()));
  return m;
}

TEST_P(EachRtc, CompilesTheTestKernels) {
  on_arch([] {
    int major = 0, minor = 0;
    EXPECT_OK(hiprtcVersion(&major, &minor));
    EXPECT_GE(major, 9);
    EXPECT_STREQ(hiprtcGetErrorString(6), "HIPRTC_ERROR_COMPILATION");
    ModuleHandle m = load_image(compile(read_file(AMDGPU_SOURCES "/kernels.hip"), {arch_option(), "-O2"}).code);
    std::vector<float> x(64, 2), y(64, 0);
    float *dx = device_copy(x), *dy = device_copy(y);
    EXPECT_OK(run(function(m, "axpy"), 1, 64, 0, nullptr, 1.5f, dx, dy, 64));
    EXPECT_EQ(read_array(dy, 64)[63], 3.0f);
  });
}

TEST_F(Rtc, CompilerErrorsAreInTheLog) {
  scenario({"AMDEMU_ARCH=gfx942"}, [] {
    const Result r =
        compile("extern \"C\" __global__ void k(float* o) { o[0] = undefined_thing; }", {arch_option()}, 6);
    EXPECT_NE(r.log.find("undefined_thing"), std::string::npos) << r.log;
    EXPECT_NE(r.log.find("test.cu"), std::string::npos) << r.log;
    compile("int x;", {"--offload-arch=gfxnope"}, 6);
    compile("int x;", {arch_option(), "--no-such-flag"}, 6);
    compile("int x;", {arch_option(), "-fgpu-rdc"}, 5);
  });
  scenario({"AMDEMU_CLANG=/nonexistent/clang"}, [] { compile("int x;", {}, 11); });
  scenario({"AMDEMU_FAIL=hiprtcCompileProgram:2"}, [] {
    compile("int x;", {});
    compile("int x;", {}, 6);
    compile("int x;", {});
  });
}

TEST_P(EachRtc, NameExpressions) {
  on_arch([] {
    const Result r = compile(R"(
      namespace ns {
      __device__ int counter = 3;
      template <class T, int N> __global__ void addn(T* p) { p[threadIdx.x] = p[threadIdx.x] + T(N); }
      })",
                             {arch_option()}, 0, {"ns::addn<float, 3>", "ns::addn<int, 4>", "&ns::counter"});
    ASSERT_EQ(r.lowered.size(), 3u);
    EXPECT_NE(r.lowered[0], r.lowered[1]);
    ModuleHandle m = load_image(r.code);
    int* p = device_copy(std::vector<int>(64, 0));
    float* f = device_copy(std::vector<float>(64, 3));
    EXPECT_OK(run(function(m, r.lowered[1].c_str()), 1, 64, 0, nullptr, p));
    EXPECT_EQ(read_array(p, 64)[63], 4);
    EXPECT_OK(run(function(m, r.lowered[0].c_str()), 1, 64, 0, nullptr, f));
    EXPECT_EQ(read_array(f, 64)[0], 6.0f);
    void* global;
    size_t bytes;
    EXPECT_OK(hipModuleGetGlobal(&global, &bytes, m, r.lowered[2].c_str()));
    EXPECT_EQ(bytes, 4u);
  });
}

constexpr char kPreludeSource[] = R"(
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include "my/header.h"
extern "C" __global__ void misc(float* o, const __half* h) {
  int t = threadIdx.x;
  o[t] = __half2float(__hadd(h[t], __float2half(1.0f)));
  float s = (float)t;
  for (int d = warpSize / 2; d; d /= 2) s += __shfl_xor(s, d);
  __shared__ float sm[64];
  sm[t] = s;
  __syncthreads();
  if (t) return;
  float4 q = make_float4(1, 2, 3, 4);
  float r[] = {FROM_HEADER + DEF, sm[0], tanhf(0.5f), erff(0.5f), expf(1.0f), powf(2.0f, 10.0f),
               (float)__popcll(__ballot(1)), rsqrtf(4.0f), logf(10.0f), (float)blockDim.x, (float)gridDim.x,
               fmodf(7.5f, 2.0f), erff(2.5f), q.x + q.w, (float)atomicAdd((int*)(o + 95), 5)};
  for (int i = 0; i < 15; i++) o[64 + i] = r[i];
})";

TEST_P(EachRtc, Prelude) {
  on_arch([] {
    ModuleHandle m = load_image(compile(kPreludeSource, {arch_option(), "-DDEF=1"}).code);
    float* o = device_copy(std::vector<float>(96, 0));
    uint16_t* h = device_copy(std::vector<uint16_t>(64, 0x4100));  // 2.5
    EXPECT_OK(run(function(m, "misc"), 1, 64, 0, nullptr, o, h));
    const auto r = read_array(o, 96);
    EXPECT_EQ(r[5], 3.5f);
    const double lanes = wave() * (wave() - 1) / 2.0;
    const double expected[] = {
        42, lanes, std::tanh(.5), std::erf(.5), std::exp(1.), 1024, 1, .5, std::log(10.), 64, 1, 1.5, std::erf(2.5),
        5,  0};
    for (size_t i = 0; i < std::size(expected); i++)
      EXPECT_NEAR(r[64 + i], expected[i], 2e-6 * (1 + std::fabs(expected[i]))) << i;
  });
}

// D = A * B^T by one wave, in the layout of each architecture.
constexpr char kMatrixSource[] = R"(
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
extern "C" __global__ void mm(const _Float16* A, const _Float16* B, float* D) {
  int l = threadIdx.x;
#if defined(__gfx942__) || defined(__gfx90a__)
  h4 a = *(const h4*)(A + (l & 15) * 16 + (l >> 4) * 4), b = *(const h4*)(B + (l & 15) * 16 + (l >> 4) * 4);
  f4 c = {0, 0, 0, 0};
  c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
  for (int i = 0; i < 4; i++) D[((l >> 4) * 4 + i) * 16 + (l & 15)] = c[i];
#elif defined(__gfx1100__)
  h16 a = *(const h16*)(A + (l & 15) * 16), b = *(const h16*)(B + (l & 15) * 16);
  f8 c = {0, 0, 0, 0, 0, 0, 0, 0};
  c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
  for (int i = 0; i < 8; i++) D[(2 * i + (l >> 4)) * 16 + (l & 15)] = c[i];
#else
  h8 a = *(const h8*)(A + (l & 15) * 16 + (l >> 4) * 8), b = *(const h8*)(B + (l & 15) * 16 + (l >> 4) * 8);
  f8 c = {0, 0, 0, 0, 0, 0, 0, 0};
  c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
  for (int i = 0; i < 8; i++) D[((l >> 4) * 8 + i) * 16 + (l & 15)] = c[i];
#endif
})";

TEST_P(EachRtc, MatrixCores) {
  if (std::string(GetParam()) == "gfx1030") GTEST_SKIP() << "gfx1030 has no matrix instructions";
  on_arch([] {
    ModuleHandle m = load_image(compile(kMatrixSource, {arch_option()}).code);
    // Small integers, of which sums and products are exact. f16 of n in -16..15 by the tables' arithmetic.
    std::vector<uint16_t> a(256), b(256);
    std::vector<int> ia(256), ib(256);
    auto half = [](int n) {
      const int sign = n < 0 ? 0x8000 : 0, magnitude = std::abs(n);
      if (!magnitude) return static_cast<uint16_t>(sign);
      const int exponent = 31 - __builtin_clz(static_cast<unsigned>(magnitude));
      return static_cast<uint16_t>(sign | (exponent + 15) << 10 | ((magnitude << (10 - exponent)) & 0x3ff));
    };
    for (int i = 0; i < 256; i++) {
      ia[i] = i * 7 % 31 - 15;
      ib[i] = i * 11 % 29 - 14;
      a[i] = half(ia[i]);
      b[i] = half(ib[i]);
    }
    float* d = device_array<float>(256);
    EXPECT_OK(run(function(m, "mm"), 1, static_cast<unsigned>(wave()), 0, nullptr, device_copy(a), device_copy(b), d));
    const auto r = read_array(d, 256);
    for (int i = 0; i < 16; i++)
      for (int j = 0; j < 16; j++) {
        int sum = 0;
        for (int k = 0; k < 16; k++) sum += ia[i * 16 + k] * ib[j * 16 + k];
        ASSERT_EQ(r[i * 16 + j], static_cast<float>(sum)) << i << ", " << j;
      }
  });
}

}  // namespace
}  // namespace amdgpu::tests
