// Division and square root of f32 and f64 as clang compiles them, over the whole range, against the host's: bit-exact.
#include <cmath>
#include <random>

#include "tests/hip.h"

namespace amdgpu::tests {
namespace {

class EachDivision : public OnEachArch {};
INSTANTIATE_TEST_SUITE_P(, EachDivision, kArchs, arch_name);

constexpr char kSource[] = R"(
#define KERNEL(name, T, expression) \
  extern "C" __attribute__((global)) void name(const T* a, const T* b, T* c) { \
    int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x(); \
    c[i] = expression; \
  }
KERNEL(div32, float, a[i] / b[i])
KERNEL(div64, double, a[i] / b[i])
KERNEL(sqrt32, float, __builtin_sqrtf(a[i]))
KERNEL(sqrt64, double, __builtin_sqrt(a[i]))
)";

constexpr int kCount = 64 * 512;

// Random bits; a third of the pairs have close exponents, so that quotients are of every size.
template <class T, class Bits>
void random_pairs(std::vector<T>& a, std::vector<T>& b) {
  std::mt19937_64 random(5);
  constexpr Bits kExponent = Bits{0x7f} << (sizeof(T) * 8 - 12);
  for (int i = 0; i < kCount; i++) {
    Bits x = static_cast<Bits>(random()), y = static_cast<Bits>(random());
    if (i % 3 == 0) y = (y & ~kExponent) | (x & kExponent);
    memcpy(&a[i], &x, sizeof x);
    memcpy(&b[i], &y, sizeof y);
  }
}

template <class T, class Bits>
void check(ModuleHandle m, const char* name, T (*expected)(T, T)) {
  std::vector<T> a(kCount), b(kCount);
  random_pairs<T, Bits>(a, b);
  T* d = device_array<T>(kCount);
  EXPECT_OK(run(function(m, name), kCount / 64, 64, 0, nullptr, device_copy(a), device_copy(b), d));
  const auto c = read_array(d, kCount);
  for (int i = 0; i < kCount; i++) {
    const T want = expected(a[i], b[i]);
    const bool same = memcmp(&want, &c[i], sizeof want) == 0 || (want != want && c[i] != c[i]);
    ASSERT_TRUE(same) << name << " of " << a[i] << " and " << b[i] << ": " << c[i] << ", expected " << want;
  }
}

TEST_P(EachDivision, DivisionAndSquareRootAreExact) {
  on_arch([] {
    const std::string code = compile_offline(kSource, "-O2");
    ModuleHandle m;
    ASSERT_EQ(hipModuleLoadData(&m, code.data()), 0);
    check<float, uint32_t>(m, "div32", [](float a, float b) { return a / b; });
    check<double, uint64_t>(m, "div64", [](double a, double b) { return a / b; });
    check<float, uint32_t>(m, "sqrt32", [](float a, float) { return std::sqrt(a); });
    check<double, uint64_t>(m, "sqrt64", [](double a, double) { return std::sqrt(a); });
  });
}

}  // namespace
}  // namespace amdgpu::tests
