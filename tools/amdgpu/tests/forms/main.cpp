// amdgpu_forms run FORMS OUT [FILTER]   executes the forms on AMDEMU_ARCH and writes the results
// amdgpu_forms cmp A B                  compares two files of results
//
// AMDGPU_HIP names another library than the emulator.
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "isa/number_format.h"
#include "tests/forms/forms.h"

using namespace amdgpu::forms;

namespace {

constexpr int kBlocks = 8, kLanes = 64;
constexpr size_t kWords = size_t{kBlocks} * kLanes * 16;

void* library = nullptr;

template <class... A>
int hip(const char* name, A... arguments) {
  auto f = reinterpret_cast<int (*)(A...)>(dlsym(library, name));
  return f ? f(arguments...) : -1;
}

constexpr uint32_t kSpecial32[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                   0x7fc00000, 1,          0x80000001, 0x007fffff, 0x7f7fffff, 0x00800000,
                                   0x4f000000, 0xcf000000, 0x4f800000, 0x3effffff};
constexpr uint16_t kSpecial16[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
                                   1, 0x03ff, 0x7bff, 0x0400, 0x3800, 0x7800, 0xf800};

// A block each of: random bits, f32, pairs of f16, f64, special f32, special f16, small integers, special f64.
std::vector<uint32_t> inputs() {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-4, 4);
  auto half = [&] { return amdgpu::f32_to_f16(uniform(random)); };
  std::vector<uint32_t> in(kWords);
  for (size_t i = 0; i < kWords; i++) {
    const uint32_t x = random();
    const bool high = i & 1;
    const double d = double{uniform(random)} * std::exp2(static_cast<int>(random() % 64) - 32);
    const auto bits = amdgpu::bits<uint64_t>(d);
    const float f = uniform(random);
    switch (i / (kLanes * 16)) {
      case 0: in[i] = x; break;
      case 1: in[i] = amdgpu::bits<uint32_t>(f); break;
      case 2: {
        const uint32_t low_half = half(), high_half = half();
        in[i] = low_half | high_half << 16;
        break;
      }
      case 3: in[i] = static_cast<uint32_t>(high ? bits >> 32 : bits); break;
      case 4: in[i] = kSpecial32[x % 16]; break;
      case 5: in[i] = kSpecial16[x % 14] | uint32_t{kSpecial16[x / 64 % 14]} << 16; break;
      case 6: in[i] = (x % 3 ? x % 67 : x % 70000) - (x & 0x10000 ? 5 : 0); break;
      default:
        if (high)
          in[i] = x % 4 ? kSpecial32[x % 16] & 0xfff00000 : 0x7ff00000 | x << 31;
        else
          in[i] = x % 3 ? 0 : x;
    }
  }
  return in;
}

std::string read_file(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  std::ostringstream s;
  s << f.rdbuf();
  return s.str();
}

std::string compile(const std::vector<std::string>& forms, const std::string& arch, const std::string& folder) {
  const std::string source = folder + "/forms.hip", object = folder + "/forms.co";
  std::ofstream(source) << program(forms, arch);
  const std::string command =
      std::string(AMDGPU_CLANG) +
      " -x hip --cuda-device-only --no-gpu-bundle-output -O1 -nogpuinc -nogpulib -w --offload-arch=" + arch + " -c " +
      source + " -o " + object;
  return system(command.c_str()) ? "" : read_file(object);
}

struct Buffers {
  void *in = nullptr, *out = nullptr, *memory = nullptr, *module = nullptr;
};

Result run_form(const std::string& form, size_t i, const Buffers& b) {
  Result r{form, 0, std::vector<uint32_t>(kWords)};
  void* f;
  void* arguments[] = {const_cast<void**>(&b.in), const_cast<void**>(&b.out), const_cast<void**>(&b.memory)};
  auto step = [&](int status) {
    if (!r.status) r.status = status;
  };
  step(hip("hipMemset", b.out, 0, kWords * 4));
  step(hip("hipModuleGetFunction", &f, b.module, ("t_" + std::to_string(i)).c_str()));
  if (!r.status)
    step(hip("hipModuleLaunchKernel", f, unsigned{kBlocks}, 1u, 1u, unsigned{kLanes}, 1u, 1u, 0u,
             static_cast<void*>(nullptr), static_cast<void**>(arguments), static_cast<void**>(nullptr)));
  step(hip("hipDeviceSynchronize"));
  step(hip("hipMemcpy", static_cast<void*>(r.words.data()), b.out, kWords * 4, 2));
  if (r.status) hip("hipGetLastError");
  return r;
}

int run(const char* forms_file, const char* out, const char* filter) {
  const char* arch_list = getenv("AMDEMU_ARCH");
  const std::string arch = arch_list ? arch_list : "gfx942";
  char folder[] = "/tmp/amdgpu-forms-XXXXXX";
  if (!mkdtemp(folder)) return 2;
  std::vector<std::string> all = read_forms(forms_file), wanted;
  for (const std::string& f : all)
    if (f.find(filter) != std::string::npos) wanted.push_back(f);
  const std::vector<std::string> forms = accepted(wanted, arch, folder);
  printf("%s: %zu of %zu forms\n", arch.c_str(), forms.size(), wanted.size());
  const std::string code = compile(forms, arch, folder);
  std::filesystem::remove_all(folder);
  const char* other = getenv("AMDGPU_HIP");
  library = dlopen(other ? other : AMDGPU_LIBRARIES "/libamdhip64.so", RTLD_NOW);
  if (code.empty() || !library) return 2;
  Buffers b;
  std::vector<uint32_t> in = inputs();
  if (hip("hipMalloc", &b.in, kWords * 4) || hip("hipMalloc", &b.out, kWords * 4) ||
      hip("hipMalloc", &b.memory, kWords) ||
      hip("hipMemcpy", b.in, static_cast<const void*>(in.data()), kWords * 4, 1) ||
      hip("hipModuleLoadData", &b.module, static_cast<const void*>(code.data())))
    return 2;
  std::vector<Result> results;
  int failed = 0;
  for (size_t i = 0; i < forms.size(); i++) {
    results.push_back(run_form(forms[i], i, b));
    failed += results.back().status != 0;
  }
  write_results(out, results);
  printf("%d forms failed to run\n", failed);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && !strcmp(argv[1], "cmp")) return compare(read_results(argv[2]), read_results(argv[3])) ? 0 : 1;
  if ((argc == 4 || argc == 5) && !strcmp(argv[1], "run")) return run(argv[2], argv[3], argc == 5 ? argv[4] : "");
  fprintf(stderr, "amdgpu_forms run FORMS OUT [FILTER] | cmp A B\n");
  return 2;
}
