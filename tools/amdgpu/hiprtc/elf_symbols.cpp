// Reads the dynamic symbols and relocations of a code object.
#include "hiprtc/elf_symbols.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace amdgpu {

namespace {

constexpr uint32_t kRelocAbs64 = 3;

class Object {
 public:
  explicit Object(const std::string& bytes) : bytes_(bytes) {
    if (bytes.size() < sizeof(Elf64_Ehdr) || memcmp(bytes.data(), ELFMAG, SELFMAG)) return;
    const auto header = read<Elf64_Ehdr>(0);
    for (int i = 0; i < header.e_shnum; i++)
      sections_.push_back(read<Elf64_Shdr>(header.e_shoff + sizeof(Elf64_Shdr) * static_cast<size_t>(i)));
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == SHT_DYNSYM) read_symbols(s);
  }

  std::string pointee(const std::string& variable) const {
    const uint64_t at = address_of(variable);
    if (!at) return "";
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_RELA) continue;
      for (uint64_t o = 0; o + sizeof(Elf64_Rela) <= s.sh_size; o += sizeof(Elf64_Rela)) {
        const auto r = read<Elf64_Rela>(s.sh_offset + o);
        if (r.r_offset == at) return target(r);
      }
    }
    return "";
  }

 private:
  struct Symbol {
    std::string name;
    Elf64_Sym entry;
  };

  // Zeros past the end of the file.
  template <class T>
  T read(uint64_t offset) const {
    T v{};
    if (offset <= bytes_.size() && sizeof v <= bytes_.size() - offset) memcpy(&v, bytes_.data() + offset, sizeof v);
    return v;
  }

  void read_symbols(const Elf64_Shdr& s) {
    const uint64_t strings = s.sh_link < sections_.size() ? sections_[s.sh_link].sh_offset : bytes_.size();
    for (uint64_t o = 0; o + sizeof(Elf64_Sym) <= s.sh_size && s.sh_offset + o < bytes_.size();
         o += sizeof(Elf64_Sym)) {
      const auto entry = read<Elf64_Sym>(s.sh_offset + o);
      const uint64_t name = strings + entry.st_name;
      symbols_.push_back({name < bytes_.size() ? bytes_.c_str() + name : "", entry});
    }
  }

  uint64_t address_of(const std::string& name) const {
    for (const Symbol& s : symbols_)
      if (s.name == name) return s.entry.st_value;
    return 0;
  }

  std::string target(const Elf64_Rela& r) const {
    const uint32_t index = ELF64_R_SYM(r.r_info);
    if (ELF64_R_TYPE(r.r_info) == kRelocAbs64) return index < symbols_.size() ? symbols_[index].name : "";
    for (size_t i = 1; i < symbols_.size(); i++)
      if (symbols_[i].entry.st_value == static_cast<uint64_t>(r.r_addend) && symbols_[i].entry.st_shndx)
        return symbols_[i].name;
    return "";
  }

  const std::string& bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace

std::string pointee(const std::string& object, const std::string& variable) { return Object(object).pointee(variable); }

}  // namespace amdgpu
