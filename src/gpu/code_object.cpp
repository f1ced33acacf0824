// ELF, AMD's metadata note and NVIDIA's .nv.info. Sources: the ELF-64 specification; LLVM's "User Guide for AMDGPU
// Backend", code object V3 and later metadata; the attributes of .nv.info as CUDA's own cuobjdump lists them.
#include "gpu/code_object.h"

#include <elf.h>

#include <cstring>
#include <map>

#include "base/error.h"
#include "gpu/msgpack.h"

namespace hf::gpu {
namespace {

constexpr int kMachineAmdgpu = 224, kMachineCuda = 190;
constexpr uint32_t kAmdMetadata = 32;  // NT_AMDGPU_METADATA

[[noreturn]] void damaged(const char* what) { fail(Code::Compile, "the code object is damaged: {}", what); }

/// A part of the bytes, if it lies within them.
std::string_view part(std::string_view bytes, uint64_t offset, uint64_t count, const char* what) {
  if (offset > bytes.size() || count > bytes.size() - offset) damaged(what);
  return bytes.substr(offset, count);
}

template <class T>
T read(std::string_view bytes, uint64_t offset, const char* what) {
  T value;
  std::memcpy(&value, part(bytes, offset, sizeof value, what).data(), sizeof value);
  return value;
}

std::string_view string_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) damaged("a name lies outside of its table");
  std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

struct Section {
  std::string_view name, bytes;
  uint32_t type, link;
};

class Elf {
 public:
  explicit Elf(std::string_view bytes) {
    auto h = read<Elf64_Ehdr>(bytes, 0, "its header is cut off");
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB) damaged("it is no 64-bit object");
    machine_ = h.e_machine;
    if (h.e_shnum && h.e_shentsize != sizeof(Elf64_Shdr)) damaged("its sections have another size");
    std::vector<Elf64_Shdr> headers;
    for (uint64_t i = 0; i < h.e_shnum; ++i)
      headers.push_back(read<Elf64_Shdr>(part(bytes, h.e_shoff, h.e_shnum * sizeof(Elf64_Shdr), "its sections"),
                                         i * sizeof(Elf64_Shdr), "its sections"));
    for (const Elf64_Shdr& s : headers) {
      std::string_view inside =
          s.sh_type == SHT_NOBITS ? std::string_view() : part(bytes, s.sh_offset, s.sh_size, "a section");
      sections_.push_back({{}, inside, s.sh_type, s.sh_link});
    }
    if (sections_.empty()) return;
    if (h.e_shstrndx >= sections_.size()) damaged("its names are missing");
    for (size_t i = 0; i < sections_.size(); ++i)
      sections_[i].name = string_at(sections_[h.e_shstrndx].bytes, headers[i].sh_name);
  }

  int machine() const { return machine_; }
  const std::vector<Section>& sections() const { return sections_; }

  // f(index, name, symbol) for each symbol of the full table.
  template <class F>
  void each_symbol(F f) const {
    for (const Section& s : sections_) {
      if (s.type != SHT_SYMTAB) continue;
      if (s.link >= sections_.size()) damaged("its symbols have no names");
      for (uint64_t i = 0; i < s.bytes.size() / sizeof(Elf64_Sym); ++i) {
        auto symbol = read<Elf64_Sym>(s.bytes, i * sizeof(Elf64_Sym), "a symbol");
        f(i, string_at(sections_[s.link].bytes, symbol.st_name), symbol);
      }
    }
  }

 private:
  int machine_ = 0;
  std::vector<Section> sections_;
};

// The contents of AMD's metadata note; empty if there is none.
std::string_view amd_metadata(const Elf& elf) {
  for (const Section& s : elf.sections()) {
    if (s.type != SHT_NOTE) continue;
    auto padded = [](uint64_t n) { return (n + 3) / 4 * 4; };
    for (uint64_t at = 0; at < s.bytes.size();) {
      auto h = read<Elf64_Nhdr>(s.bytes, at, "a note");
      at += sizeof h;
      std::string_view owner = part(s.bytes, at, h.n_namesz, "a note's owner");
      std::string_view text = part(s.bytes, at += padded(h.n_namesz), h.n_descsz, "a note's text");
      at += padded(h.n_descsz);
      if (h.n_type == kAmdMetadata && owner.starts_with("AMDGPU")) return text;
    }
  }
  return {};
}

std::vector<KernelFacts> amd_kernels(const Elf& elf) {
  std::string_view text = amd_metadata(elf);
  constexpr size_t kMost = size_t{4} << 20;  // a kernel takes a few hundred bytes
  if (text.empty() || text.size() > kMost) damaged("it has no metadata, or too much");
  std::optional<Pack> metadata = read_msgpack(text);
  const Pack* kernels = metadata ? metadata->find("amdhsa.kernels") : nullptr;
  if (!kernels || kernels->kind != Pack::Kind::List) damaged("its metadata lists no kernels");
  std::map<std::string_view, int64_t> sizes;
  elf.each_symbol([&](uint64_t, std::string_view name, const Elf64_Sym& symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) sizes[name] = static_cast<int64_t>(symbol.st_size);
  });
  std::vector<KernelFacts> all;
  for (const Pack& k : kernels->items) {
    const Pack* name = k.find(".name");
    if (!name || name->kind != Pack::Kind::Text) damaged("its metadata has a kernel without a name");
    KernelFacts f{.name = std::string(name->text)};
    f.vgprs = k.number_at(".vgpr_count");
    f.agprs = k.number_at(".agpr_count");
    f.sgprs = k.number_at(".sgpr_count");
    auto vector = k.number_at(".vgpr_spill_count"), scalar = k.number_at(".sgpr_spill_count");
    if (vector || scalar) f.spills = vector.value_or(0) + scalar.value_or(0);
    f.private_bytes = k.number_at(".private_segment_fixed_size");
    f.lds_bytes = k.number_at(".group_segment_fixed_size");
    if (auto it = sizes.find(name->text); it != sizes.end()) f.code_bytes = it->second;
    all.push_back(std::move(f));
  }
  return all;
}

// The attributes of .nv.info that name a kernel by its symbol and give a number.
constexpr uint8_t kSized = 4;  // the format of an attribute with a size of its own; the others are 4 bytes long
constexpr uint8_t kRegisters = 0x2f, kFrame = 0x11;

std::vector<KernelFacts> cuda_kernels(const Elf& elf) {
  std::map<uint64_t, KernelFacts> kernels;
  constexpr std::string_view kText = ".text.", kInfo = ".nv.info";
  std::map<std::string_view, int64_t> sizes;
  for (const Section& s : elf.sections())
    if (s.name.starts_with(kText)) sizes[s.name.substr(kText.size())] = static_cast<int64_t>(s.bytes.size());
  elf.each_symbol([&](uint64_t index, std::string_view name, const Elf64_Sym& symbol) {
    auto it = sizes.find(name);
    if (it == sizes.end() || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) return;
    kernels[index] = {.name = std::string(name)};
    kernels[index].code_bytes = it->second;
  });
  for (const Section& s : elf.sections()) {
    if (s.name != kInfo) continue;
    for (uint64_t at = 0; at < s.bytes.size();) {
      auto format = read<uint8_t>(s.bytes, at, "an attribute"),
           attribute = read<uint8_t>(s.bytes, at + 1, "an attribute");
      uint16_t size = format == kSized ? read<uint16_t>(s.bytes, at + 2, "an attribute") : uint16_t{0};
      at += 4;
      std::string_view value = part(s.bytes, at, size, "an attribute");
      at += size;
      if (format != kSized || size < 8 || (attribute != kRegisters && attribute != kFrame)) continue;
      auto kernel = kernels.find(read<uint32_t>(value, 0, "an attribute"));
      if (kernel == kernels.end()) continue;
      int64_t number = read<uint32_t>(value, 4, "an attribute");
      (attribute == kFrame ? kernel->second.private_bytes : kernel->second.vgprs) = number;
    }
  }
  std::vector<KernelFacts> all;
  for (auto& [index, kernel] : kernels) all.push_back(std::move(kernel));
  return all;
}

}  // namespace

std::vector<KernelFacts> read_code_object(std::string_view code) {
  if (!code.starts_with(ELFMAG)) damaged("it is no ELF object");
  Elf elf(code);
  if (elf.machine() == kMachineAmdgpu) return amd_kernels(elf);
  if (elf.machine() == kMachineCuda) return cuda_kernels(elf);
  return {};
}

}  // namespace hf::gpu
