// amdgpu_missing ARCH FILE...: the instructions of code objects that have no handler.
#include <elf.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "isa/decode.h"

namespace {

struct Found {
  int count = 0;
  std::string why;
};

struct Listing {
  std::map<std::string, Found> missing;
  std::set<std::string> handled;
  long instructions = 0;
};

void list_code(const amdgpu::Arch& arch, const uint8_t* code, size_t size, Listing& to) {
  for (size_t at = 0; at + 4 <= size;) {
    std::string why;
    const auto in = amdgpu::decode_any(arch, code + at, size - at, at, why);
    at += in ? in->size : 4;
    if (!in) continue;
    to.instructions++;
    if (in->handler) {
      to.handled.insert(in->name);
      continue;
    }
    Found& f = to.missing[in->name];
    f.count++;
    f.why = why;
  }
}

bool list_file(const amdgpu::Arch& arch, const char* path, Listing& to) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string bytes = content.str();
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || memcmp(bytes.data(), ELFMAG, SELFMAG)) return false;
  memcpy(&header, bytes.data(), sizeof header);
  for (size_t i = 0; i < header.e_shnum; i++) {
    const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    if (at + sizeof section > bytes.size()) return false;
    memcpy(&section, bytes.data() + at, sizeof section);
    if (!(section.sh_flags & SHF_EXECINSTR) || section.sh_offset + section.sh_size > bytes.size()) continue;
    list_code(arch, reinterpret_cast<const uint8_t*>(bytes.data()) + section.sh_offset, section.sh_size, to);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const amdgpu::Arch* arch = argc > 2 ? amdgpu::find_arch(argv[1]) : nullptr;
  if (!arch) {
    fprintf(stderr, "amdgpu_missing ARCH FILE..., where ARCH is one of: %s\n", amdgpu::supported_archs().c_str());
    return 2;
  }
  Listing all;
  for (int i = 2; i < argc; i++)
    if (!list_file(*arch, argv[i], all)) fprintf(stderr, "not a code object: %s\n", argv[i]);
  for (const auto& [name, f] : all.missing) printf("%6d %s: %s\n", f.count, name.c_str(), f.why.c_str());
  printf("%ld instructions, %zu mnemonics with a handler, %zu without\n", all.instructions, all.handled.size(),
         all.missing.size());
  return all.missing.empty() ? 0 : 1;
}
