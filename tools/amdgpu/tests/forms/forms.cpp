// Forms: expansion, assembling, kernels, results.
#include "tests/forms/forms.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace amdgpu::forms {

namespace {

// Every alternative of every {a|b}.
std::vector<std::string> expand(const std::string& s) {
  const size_t open = s.find('{');
  if (open == std::string::npos) return {s};
  const size_t close = s.find('}', open);
  const std::string inside = s.substr(open + 1, close - open - 1) + "|";
  std::vector<std::string> all;
  for (size_t begin = 0, end; (end = inside.find('|', begin)) != std::string::npos; begin = end + 1)
    for (const std::string& rest : expand(s.substr(close + 1)))
      all.push_back(s.substr(0, open) + inside.substr(begin, end - begin) + rest);
  return all;
}

bool is_wave64(const std::string& arch) { return arch.compare(0, 4, "gfx9") == 0; }
bool is_gfx11(const std::string& arch) { return arch.compare(0, 5, "gfx11") == 0; }
bool is_gfx12(const std::string& arch) { return arch.compare(0, 5, "gfx12") == 0; }

std::string reg(int i) { return "v" + std::to_string(i); }
std::string move(const std::string& to, const std::string& from) { return "v_mov_b32 " + to + ", " + from + "\\n"; }

std::string wait_for_all(const std::string& arch) {
  if (is_gfx12(arch)) return "s_wait_loadcnt 0\\n s_wait_storecnt 0\\n s_wait_dscnt 0\\n";
  const bool stores_apart = is_gfx11(arch) || arch == "gfx1030";
  return std::string("s_waitcnt vmcnt(0) lgkmcnt(0)\\n") + (stores_apart ? "s_waitcnt_vscnt null, 0\\n" : "");
}

constexpr int kFirstMatrix = 32, kLastMatrix = 63;

// Fills v[32:63] from the inputs. On RDNA3 lanes 16-31 must repeat the sources of lanes 0-15.
std::string prepare_matrix(const std::string& arch, bool wmma) {
  std::string s;
  for (int k = kFirstMatrix; k <= kLastMatrix; k++) {
    const bool source = wmma && k >= 40;
    const int base = source ? 4 + k % 2 + (k >= 48 ? 4 : 0) : 12 + k % 4;
    s += move(reg(k), reg(base));
  }
  if (wmma && is_gfx11(arch))
    for (int k = 40; k < 56; k++) s += "ds_swizzle_b32 " + reg(k) + ", " + reg(k) + " offset:0x000f\\n";
  return s + wait_for_all(arch) + "s_nop 15\\n";
}

// Some of the result's registers to the outputs.
std::string collect_matrix() {
  std::string s = "s_nop 15\\n s_nop 15\\n";
  int to = 20;
  for (int from : {32, 33, 34, 35, 36, 37, 38, 39, 47, 53, 58, 63}) s += move(reg(to++), reg(from));
  return s;
}

std::string collect_scalars(const std::string& arch) {
  std::string s =
      move("v24", "vcc_lo") + move("v25", "s28") + move("v26", "s24") + move("v27", "s25") + move("v28", "s26");
  if (is_wave64(arch)) s += move("v29", "s27") + move("v30", "vcc_hi");
  return s;
}

std::string assembly(const std::string& form, const std::string& arch, bool matrix) {
  const bool wave64 = is_wave64(arch);
  std::string s = wait_for_all(arch);
  if (matrix) s += prepare_matrix(arch, form.compare(0, 6, "v_wmma") == 0);
  s += wave64 ? "s_mov_b64 vcc, s[20:21]\\n" : "s_mov_b32 vcc_lo, s20\\n";
  s += "s_mov_b32 s24, s22\\n s_mov_b32 s25, s23\\n s_cmp_gt_u32 s20, s21\\n";
  s += form + "\\n s_cselect_b32 s28, 1, 0\\n";
  s += wave64 ? "s_mov_b64 s[26:27], exec\\n s_mov_b64 exec, -1\\n"
              : "s_mov_b32 s26, exec_lo\\n s_mov_b32 exec_lo, -1\\n";
  s += wait_for_all(arch);
  return s + (matrix ? collect_matrix() : collect_scalars(arch));
}

std::string kernel(const std::string& form, size_t i, const std::string& arch) {
  const bool lds = form.compare(0, 3, "ds_") == 0;
  const bool matrix = form.compare(0, 7, "v_mfma_") == 0 || form.compare(0, 7, "v_wmma_") == 0;
  std::string clobbers = "\"memory\", \"vcc\", \"s24\", \"s25\", \"s26\", \"s27\", \"s28\"";
  for (int k = kFirstMatrix; matrix && k <= kLastMatrix; k++) clobbers += ", \"" + reg(k) + "\"";
  std::string s = "KERNEL(t_" + std::to_string(i) + ") {\n";
  if (lds) s += "  static __attribute__((shared)) u4 sh[1024];\n";
  s += "  INPUTS\n";
  s += lds ? "  LDS_ADDRESS\n" : "  u2 ad = {0, 0};\n";
  s += "  MEMORY_ADDRESS\n  asm volatile(\"" + assembly(form, arch, matrix) +
       "\" : \"+{v[20:23]}\"(o), \"+{v[24:27]}\"(o1), \"+{v[28:31]}\"(o2) : \"{v[4:7]}\"(a), \"{v[8:11]}\"(b), "
       "\"{v[12:15]}\"(c), \"{v[16:17]}\"(ad), \"{v[18:19]}\"(ma), \"{s[20:23]}\"(s) : " +
       clobbers + ");\n";
  return s + "  OUTPUTS(" + (lds ? "sh[t]" : "*mp") + ")\n}\n";
}

constexpr char kPrologue[] = R"(
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 u4 __attribute__((ext_vector_type(4)));
typedef u32 u2 __attribute__((ext_vector_type(2)));
#define KERNEL(name) \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64), amdgpu_num_vgpr(128))) void name( \
      const u4* in, u4* out, u4* mem)
#define UNIFORM(x) x = __builtin_amdgcn_readfirstlane(x)
#define INPUTS \
  u32 t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x(), id = g * 64 + t; \
  u4 a = in[id * 4], b = in[id * 4 + 1], c = in[id * 4 + 2], o = in[id * 4 + 3], o1 = o, o2 = o, s = in[g * 256 + 2]; \
  UNIFORM(s.x); UNIFORM(s.y); UNIFORM(s.z); UNIFORM(s.w);
#define LDS_ADDRESS \
  for (int i = 0; i < 16; i++) sh[t + 64 * i] = b; \
  __builtin_amdgcn_s_barrier(); \
  u2 ad = {(u32)(__attribute__((address_space(3))) u4*)(sh + t), 0};
#define MEMORY_ADDRESS \
  u4* mp = mem + id; \
  *mp = b; \
  u64 ma = (u64)mp; \
  if (ma == 0) out[0] = *mp;
#define OUTPUTS(memory) \
  out[id * 4] = o; out[id * 4 + 1] = o1; out[id * 4 + 2] = o2; out[id * 4 + 3] = memory;
)";

constexpr size_t kWordsOfLane = 16, kLanes = 64;

bool is_nan32(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; }
bool is_nan16(uint32_t x) { return (x & 0x7fff) > 0x7c00; }
bool is_nan64(uint32_t high) { return (high & 0x7fffffff) > 0x7ff00000; }

// Equal, or NaN in both as one of the formats that the word may hold.
bool same_word(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, size_t i) {
  if (a[i] == b[i] || (is_nan32(a[i]) && is_nan32(b[i]))) return true;
  auto same_half = [&](int shift) {
    const uint32_t x = a[i] >> shift & 0xffff, y = b[i] >> shift & 0xffff;
    return x == y || (is_nan16(x) && is_nan16(y));
  };
  if (same_half(0) && same_half(16)) return true;
  const size_t high = i | 1;
  return is_nan64(a[high]) && is_nan64(b[high]);
}

bool near(uint32_t a, uint32_t b) {
  const int32_t d = static_cast<int32_t>(a - b);
  return d >= -2 && d <= 2;
}

template <class T>
void put(std::ofstream& f, const T& v) {
  f.write(reinterpret_cast<const char*>(&v), sizeof v);
}
template <class T>
T get(std::ifstream& f) {
  T v{};
  f.read(reinterpret_cast<char*>(&v), sizeof v);
  return v;
}

}  // namespace

std::vector<std::string> read_forms(const std::string& path) {
  std::vector<std::string> names, all;
  std::set<std::string> seen;
  bool after_forms = false;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') {  // names
      if (after_forms) names.clear();
      after_forms = false;
      std::istringstream words(line);
      for (std::string w; words >> w;)
        for (const std::string& n : expand(w)) names.push_back(n);
      continue;
    }
    after_forms = true;
    const std::string pattern = line.substr(line.find_first_not_of(' '));
    for (const std::string& name : names)
      for (std::string form : expand(pattern)) {
        const size_t at = form.find('@');
        if (at != std::string::npos) form.replace(at, 1, name);
        if (seen.insert(form).second) all.push_back(form);
      }
  }
  return all;
}

std::vector<std::string> accepted(const std::vector<std::string>& forms, const std::string& arch,
                                  const std::string& folder) {
  const std::string source = folder + "/forms.s", errors = folder + "/forms.err";
  {
    std::ofstream f(source);
    for (const std::string& form : forms) f << form << "\n";
  }
  const std::string command = std::string(AMDGPU_CLANG) + " -x assembler -c -target amdgcn-amd-amdhsa -mcpu=" + arch +
                              (is_wave64(arch) ? "" : " -mno-wavefrontsize64") + " -ferror-limit=0 " + source +
                              " -o /dev/null 2> " + errors;
  if (system(command.c_str()) < 0) return {};
  std::set<size_t> refused;
  std::ifstream f(errors);
  for (std::string line; std::getline(f, line);) {
    const size_t at = line.find("forms.s:");
    if (at != std::string::npos && line.find("error:") != std::string::npos)
      refused.insert(strtoul(line.c_str() + at + strlen("forms.s:"), nullptr, 10));
  }
  std::vector<std::string> taken;
  for (size_t i = 0; i < forms.size(); i++)
    if (!refused.count(i + 1)) taken.push_back(forms[i]);
  return taken;
}

std::string program(const std::vector<std::string>& forms, const std::string& arch) {
  std::string s = kPrologue;
  for (size_t i = 0; i < forms.size(); i++) s += kernel(forms[i], i, arch);
  return s;
}

void write_results(const std::string& path, const std::vector<Result>& results) {
  std::ofstream f(path, std::ios::binary);
  put(f, static_cast<uint32_t>(results.size()));
  for (const Result& r : results) {
    put(f, static_cast<uint32_t>(r.form.size()));
    f.write(r.form.data(), static_cast<std::streamsize>(r.form.size()));
    put(f, r.status);
    put(f, static_cast<uint32_t>(r.words.size()));
    f.write(reinterpret_cast<const char*>(r.words.data()), static_cast<std::streamsize>(r.words.size() * 4));
  }
}

std::vector<Result> read_results(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  std::vector<Result> results(get<uint32_t>(f));
  for (Result& r : results) {
    r.form.resize(get<uint32_t>(f));
    f.read(r.form.data(), static_cast<std::streamsize>(r.form.size()));
    r.status = get<int32_t>(f);
    r.words.resize(get<uint32_t>(f));
    f.read(reinterpret_cast<char*>(r.words.data()), static_cast<std::streamsize>(r.words.size() * 4));
  }
  return results;
}

bool compare(const std::vector<Result>& a, const std::vector<Result>& b) {
  std::map<std::string, const Result*> others;
  for (const Result& r : b) others[r.form] = &r;
  int common = 0, same = 0, close = 0, different = 0, failed = 0, refused = 0;
  for (const Result& x : a) {
    auto it = others.find(x.form);
    if (it == others.end()) continue;
    const Result& y = *it->second;
    common++;
    if (x.status || y.status) {
      if (x.status == y.status) {
        refused++;
        continue;
      }
      printf("FAILED %d %d: %s\n", x.status, y.status, x.form.c_str());
      failed++;
      continue;
    }
    size_t off = 0, far = 0, first = 0;
    for (size_t i = 0; i < x.words.size(); i++) {
      if (same_word(x.words, y.words, i)) continue;
      off++;
      if (near(x.words[i], y.words[i])) continue;
      if (!far++) first = i;
    }
    (far ? different : off ? close : same)++;
    if (far)
      printf("DIFF %4zu (%zu near): %s  at block %zu lane %zu word %zu: %08x / %08x\n", far, off - far, x.form.c_str(),
             first / (kWordsOfLane * kLanes), first / kWordsOfLane % kLanes, first % kWordsOfLane, x.words[first],
             y.words[first]);
  }
  printf("%d common forms: %d identical, %d within 2 units, %d different, %d refused by both, %d failed in one\n",
         common, same, close, different, refused, failed);
  return different + failed == 0;
}

}  // namespace amdgpu::forms
