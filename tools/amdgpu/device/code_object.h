// Code objects: an ELF file for one architecture, or a bundle of several, loaded to device memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/arena.h"
#include "isa/inst.h"

namespace amdgpu {

struct Argument {
  uint32_t offset, size;
  std::string kind;  // the metadata's value kind; the compiler's own begin with "hidden_"

  bool hidden() const { return kind.compare(0, 7, "hidden_") == 0; }
};

struct Module;

/// A kernel descriptor with its metadata. The numbers are those of the AMDGPU ABI.
struct Kernel {
  Module* module = nullptr;
  std::string name;
  uint32_t argument_bytes = 0, lds_bytes = 0, scratch_bytes = 0;
  uint32_t wave = 0, max_block = 1024, vgprs = 0, agprs = 0;
  uint64_t descriptor = 0, entry = 0;  // device addresses
  uint32_t rsrc1 = 0, rsrc2 = 0;
  uint16_t properties = 0, preload = 0;
  bool dynamic_stack = false;
  std::vector<Argument> arguments;
  size_t explicit_count = 0, explicit_bytes = 0;
};

struct Module {
  int device = 0;
  uint64_t base = 0;  // device address
  size_t size = 0;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  std::map<std::string, std::pair<uint64_t, uint64_t>> symbols;  // name: device address, size
  std::vector<std::unique_ptr<Inst>> code;                       // decoded instructions by (address - base) / 4

  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();
};

/// Loads an image for the device; size 0 means unknown. What is wrong is returned, with words in message.
Status load_module(int device, const void* image, size_t size, std::unique_ptr<Module>& module, std::string& message);

}  // namespace amdgpu
