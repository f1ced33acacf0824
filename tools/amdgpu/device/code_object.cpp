// Reads code objects: bundles, program headers, metadata, symbols, relocations, kernel descriptors.
#include "device/code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "device/msgpack.h"
#include "device/support.h"

namespace amdgpu {

namespace {

constexpr int kMachineAmdGpu = 224;
constexpr uint32_t kNoteMetadata = 32;
constexpr int kRelocAbs64 = 3, kRelocRelative64 = 13;
constexpr uint64_t kMaxImage = 1u << 30;

// What is wrong with an image; thrown and caught in this file.
struct Bad {
  Status status;
  std::string words;
};

template <class T>
T read(const uint8_t* at) {
  T v;
  memcpy(&v, at, sizeof v);
  return v;
}

// Do these bytes lie below the limit? No sum that could wrap.
bool inside(uint64_t offset, uint64_t bytes, uint64_t limit) { return offset <= limit && bytes <= limit - offset; }

// Both targets look like gfx942:sramecc+:xnack-. A feature that the code object leaves out fits both settings.
bool compatible(const std::string& object, const std::string& device) {
  const auto o = split(object, ":"), d = split(device, ":");
  if (o.empty() || d.empty()) return false;
  bool same = o[0] == d[0];
  if (o[0] == "gfx10-3-generic") same = starts_with(d[0], "gfx103");
  if (o[0] == "gfx11-generic") same = starts_with(d[0], "gfx11");
  if (o[0] == "gfx12-generic") same = starts_with(d[0], "gfx12");
  if (o[0] == "gfx9-4-generic") same = d[0] == "gfx940" || d[0] == "gfx941" || d[0] == "gfx942";
  if (!same) return false;
  for (size_t i = 1; i < o.size(); i++)
    for (size_t j = 1; j < d.size(); j++)
      if (d[j].substr(0, d[j].size() - 1) == o[i].substr(0, o[i].size() - 1) && d[j].back() != o[i].back())
        return false;
  return true;
}

// The member of an offload bundle that fits the device.
std::pair<const uint8_t*, size_t> find_member(const uint8_t* image, size_t size, const std::string& target) {
  constexpr uint64_t kMaxMembers = 4096, kMaxTriple = 4096;
  const auto count = read<uint64_t>(image + 24);
  if (count > kMaxMembers) throw Bad{kInvalidImage, "bad offload bundle"};
  const uint8_t* entry = image + 32;
  std::string seen;
  for (uint64_t i = 0; i < count; i++) {
    const auto at = static_cast<uint64_t>(entry - image);
    if (size && !inside(at, 24, size)) throw Bad{kInvalidImage, "bad offload bundle"};
    const auto offset = read<uint64_t>(entry), bytes = read<uint64_t>(entry + 8), length = read<uint64_t>(entry + 16);
    if (length > kMaxTriple || (size && (!inside(offset, bytes, size) || !inside(at + 24, length, size))))
      throw Bad{kInvalidImage, "bad offload bundle"};
    const std::string triple(reinterpret_cast<const char*>(entry) + 24, length);
    entry += 24 + length;
    const size_t dashes = triple.rfind("--");
    const std::string member = dashes == std::string::npos ? "" : triple.substr(dashes + 2);
    if (!starts_with(triple, "hip") || member.empty() || !bytes) continue;
    if (compatible(member, target)) return {image + offset, bytes};
    seen += " " + member;
  }
  throw Bad{kNoBinaryForGpu, "bundle has" + seen + ", device is " + target};
}

class Loader {
 public:
  Loader(Device& device, const uint8_t* image, size_t size) : device_(device), image_(image), size_(size) {}

  std::unique_ptr<Module> load() {
    read_headers();
    check_target();
    place_segments();
    read_dynamic();
    read_symbols();
    relocate();
    module_->code.resize(module_->size / 4);
    if (const Meta* kernels = meta_.find("amdhsa.kernels"))
      for (const Meta& k : kernels->list) add_kernel(k);
    return std::move(module_);
  }

 private:
  void read_headers() {
    if (memcmp(image_, ELFMAG, SELFMAG) || image_[EI_CLASS] != ELFCLASS64)
      throw Bad{kInvalidImage, "not an ELF code object"};
    header_ = read<Elf64_Ehdr>(image_);
    if (header_.e_machine != kMachineAmdGpu) throw Bad{kInvalidImage, "not an AMDGPU code object"};
    if (!size_) {
      size_ = header_.e_shoff + size_t{header_.e_shnum} * header_.e_shentsize;
      for (int i = 0; i < header_.e_phnum; i++)
        size_ = std::max<size_t>(size_, program(i).p_offset + program(i).p_filesz);
    }
    if (!inside(header_.e_phoff, header_.e_phnum * sizeof(Elf64_Phdr), size_) || !header_.e_phnum)
      throw Bad{kInvalidImage, "bad program headers"};
    for (int i = 0; i < header_.e_phnum; i++) {
      const Elf64_Phdr p = program(i);
      if (!inside(p.p_offset, p.p_filesz, size_)) throw Bad{kInvalidImage, "truncated code object"};
      if (p.p_type == PT_LOAD && !inside(p.p_vaddr, p.p_memsz, kMaxImage)) throw Bad{kInvalidImage, "bad segment"};
      if (p.p_type == PT_LOAD) end_ = std::max<uint64_t>(end_, p.p_vaddr + p.p_memsz);
      if (p.p_type == PT_NOTE) read_notes(p.p_offset, p.p_offset + p.p_filesz);
    }
  }

  Elf64_Phdr program(int i) const {
    return read<Elf64_Phdr>(image_ + header_.e_phoff + sizeof(Elf64_Phdr) * size_t(i));
  }

  void read_notes(uint64_t at, uint64_t end) {
    while (inside(at, sizeof(Elf64_Nhdr), end)) {
      const auto note = read<Elf64_Nhdr>(image_ + at);
      at += sizeof note;
      const uint64_t content = at + round_up(note.n_namesz, 4);
      if (!inside(content, note.n_descsz, end)) return;
      if (note.n_type == kNoteMetadata && note.n_namesz >= 6 && !memcmp(image_ + at, "AMDGPU", 6)) {
        auto meta = parse_msgpack(image_ + content, note.n_descsz);
        if (!meta) throw Bad{kInvalidImage, "bad metadata"};
        meta_ = std::move(*meta);
      }
      at = content + round_up(note.n_descsz, 4);
    }
  }

  void check_target() const {
    const std::string triple = meta_.string_of("amdhsa.target");
    const size_t dashes = triple.rfind("--");
    if (dashes == std::string::npos) throw Bad{kInvalidImage, "no amdhsa.target in the metadata"};
    const std::string target = triple.substr(dashes + 2);
    if (!compatible(target, device_.target))
      throw Bad{kNoBinaryForGpu, "code object for " + target + ", device is " + device_.target};
  }

  void place_segments() {
    if (!end_ || end_ > kMaxImage) throw Bad{kInvalidImage, "no loadable segments"};
    module_ = std::make_unique<Module>();
    module_->device = device_.id;
    module_->size = round_up(end_, kPage) + kPage;  // slack: the decoder reads ahead
    Status status;
    module_->base = allocate(device_.id, module_->size, MemoryKind::Internal, 0, status);
    if (!module_->base) throw Bad{status, "out of address space"};
    memory_ = reinterpret_cast<uint8_t*>(module_->base + device_.to_host);
    memset(memory_, 0, module_->size);
    for (int i = 0; i < header_.e_phnum; i++) {
      const Elf64_Phdr p = program(i);
      if (p.p_type == PT_LOAD) {
        if (p.p_filesz > p.p_memsz) throw Bad{kInvalidImage, "bad segment"};
        memcpy(memory_ + p.p_vaddr, image_ + p.p_offset, p.p_filesz);
      }
      if (p.p_type == PT_DYNAMIC) dynamic_ = p;
    }
  }

  void read_dynamic() {
    if (!inside(dynamic_.p_vaddr, dynamic_.p_memsz, end_)) throw Bad{kInvalidImage, "bad dynamic section"};
    for (uint64_t o = 0; o + sizeof(Elf64_Dyn) <= dynamic_.p_memsz; o += sizeof(Elf64_Dyn)) {
      const auto d = read<Elf64_Dyn>(memory_ + dynamic_.p_vaddr + o);
      if (d.d_tag == DT_NULL) break;
      if (d.d_tag == DT_HASH) hash_ = d.d_un.d_val;
      if (d.d_tag == DT_STRTAB) strings_ = d.d_un.d_val;
      if (d.d_tag == DT_SYMTAB) symbols_ = d.d_un.d_val;
      if (d.d_tag == DT_RELA) relocations_ = d.d_un.d_val;
      if (d.d_tag == DT_RELASZ) relocation_bytes_ = d.d_un.d_val;
    }
    if (!hash_ || !symbols_ || !strings_ || !inside(hash_, 8, end_) || strings_ > end_)
      throw Bad{kInvalidImage, "no dynamic symbols"};
    symbol_count_ = read<uint32_t>(memory_ + hash_ + 4);  // the hash table's chain has an entry a symbol
    if (!inside(symbols_, uint64_t{symbol_count_} * sizeof(Elf64_Sym), end_))
      throw Bad{kInvalidImage, "bad symbol table"};
  }

  Elf64_Sym symbol(uint32_t i) const { return read<Elf64_Sym>(memory_ + symbols_ + sizeof(Elf64_Sym) * i); }

  // The page of zeros after the segments ends every name.
  std::string name_of(const Elf64_Sym& s) const {
    if (strings_ + s.st_name > end_) throw Bad{kInvalidImage, "bad symbol name"};
    return reinterpret_cast<const char*>(memory_) + strings_ + s.st_name;
  }

  void read_symbols() {
    for (uint32_t i = 1; i < symbol_count_; i++) {
      const Elf64_Sym s = symbol(i);
      if (s.st_shndx != SHN_UNDEF) module_->symbols[name_of(s)] = {module_->base + s.st_value, s.st_size};
    }
  }

  void relocate() {
    if (!relocations_) return;
    if (!inside(relocations_, relocation_bytes_, end_)) throw Bad{kInvalidImage, "bad relocations"};
    const uint64_t end = relocations_ + relocation_bytes_;
    for (uint64_t o = relocations_; o + sizeof(Elf64_Rela) <= end; o += sizeof(Elf64_Rela)) {
      const auto r = read<Elf64_Rela>(memory_ + o);
      const uint32_t index = ELF64_R_SYM(r.r_info), type = ELF64_R_TYPE(r.r_info);
      if (!inside(r.r_offset, 8, end_) || index >= symbol_count_) throw Bad{kInvalidImage, "bad relocation"};
      uint64_t value = module_->base + static_cast<uint64_t>(r.r_addend);
      if (type == kRelocAbs64 && symbol(index).st_shndx != SHN_UNDEF)
        value += symbol(index).st_value;
      else if (type != kRelocRelative64)
        throw Bad{kSymbolNotFound,
                  text("relocation type %u or undefined symbol %s", type, name_of(symbol(index)).c_str())};
      memcpy(memory_ + r.r_offset, &value, 8);
    }
  }

  void add_kernel(const Meta& meta) {
    auto found = module_->symbols.find(meta.string_of(".symbol"));
    if (found == module_->symbols.end()) return;
    auto k = std::make_unique<Kernel>();
    k->module = module_.get();
    k->name = meta.string_of(".name");
    k->descriptor = found->second.first;
    k->argument_bytes = static_cast<uint32_t>(meta.number_of(".kernarg_segment_size"));
    k->wave = static_cast<uint32_t>(meta.number_of(".wavefront_size"));
    k->max_block = static_cast<uint32_t>(meta.number_of(".max_flat_workgroup_size", 1024));
    k->vgprs = static_cast<uint32_t>(meta.number_of(".vgpr_count", 256));
    k->agprs = static_cast<uint32_t>(meta.number_of(".agpr_count"));
    k->dynamic_stack = meta.number_of(".uses_dynamic_stack") != 0;
    read_descriptor(*k);
    if (const Meta* arguments = meta.find(".args"))
      for (const Meta& a : arguments->list) add_argument(*k, a);
    const std::string name = k->name;
    module_->kernels[name] = std::move(k);
  }

  // Offsets of the kernel descriptor: https://llvm.org/docs/AMDGPUUsage.html#kernel-descriptor
  void read_descriptor(Kernel& k) const {
    if (!inside(k.descriptor - module_->base, 64, end_)) throw Bad{kInvalidImage, "bad kernel descriptor"};
    const auto* d = reinterpret_cast<const uint8_t*>(k.descriptor + device_.to_host);
    k.lds_bytes = read<uint32_t>(d);
    k.scratch_bytes = read<uint32_t>(d + 4);
    k.entry = k.descriptor + static_cast<uint64_t>(read<int64_t>(d + 16));
    k.rsrc1 = read<uint32_t>(d + 48);
    k.rsrc2 = read<uint32_t>(d + 52);
    k.properties = read<uint16_t>(d + 56);
    k.preload = read<uint16_t>(d + 58);
    if (k.entry - module_->base >= end_) throw Bad{kInvalidImage, "bad kernel entry"};
  }

  static void add_argument(Kernel& k, const Meta& meta) {
    Argument a{static_cast<uint32_t>(meta.number_of(".offset")), static_cast<uint32_t>(meta.number_of(".size")),
               meta.string_of(".value_kind")};
    if (uint64_t{a.offset} + a.size > k.argument_bytes) throw Bad{kInvalidImage, "bad argument metadata"};
    if (!a.hidden()) {
      k.explicit_count++;
      k.explicit_bytes = std::max<size_t>(k.explicit_bytes, a.offset + a.size);
    }
    k.arguments.push_back(std::move(a));
  }

  Device& device_;
  const uint8_t* image_;
  size_t size_;
  Elf64_Ehdr header_{};
  Elf64_Phdr dynamic_{};
  Meta meta_;
  std::unique_ptr<Module> module_;
  uint8_t* memory_ = nullptr;
  uint64_t end_ = 0;  // of the loaded segments; what follows are offsets below it
  uint64_t hash_ = 0, strings_ = 0, symbols_ = 0, relocations_ = 0, relocation_bytes_ = 0;
  uint32_t symbol_count_ = 0;
};

}  // namespace

Module::~Module() {
  if (base) deallocate_internal(base);
}

Status load_module(int device, const void* image, size_t size, std::unique_ptr<Module>& module, std::string& message) {
  constexpr size_t kSmallest = sizeof(Elf64_Ehdr);
  const auto* data = static_cast<const uint8_t*>(image);
  Device& d = devices()[device];
  try {
    if (size && size < kSmallest) throw Bad{kInvalidImage, "image too small"};
    if (!memcmp(data, "CCOB", 4)) throw Bad{kInvalidImage, "compressed offload bundle: not supported"};
    if (!memcmp(data, "__CLANG_OFFLOAD_BUNDLE__", 24)) std::tie(data, size) = find_member(data, size, d.target);
    module = Loader(d, data, size).load();
    return kOk;
  } catch (const Bad& bad) {
    message = bad.words;
    return bad.status;
  }
}

}  // namespace amdgpu
