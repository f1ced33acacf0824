// NumPy's .npy files (format versions 1 to 3, numpy.lib.format).
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "base/tensor.h"

namespace hf {

/// Reads an array. Big-endian and Fortran-ordered ones are converted; byte and unicode strings become UTF-8 strings.
/// Throws NotFound or Io (the file), Unsupported for element types that are none of ours (objects, structures, dates,
/// long double, raw bytes), InvalidArgument for a file that is no .npy or is cut off.
Tensor read_npy(const std::filesystem::path& path);
/// The same from memory.
Tensor npy_from_bytes(std::span<const std::byte> bytes);

/// Writes an array, replacing a file that is there. What NumPy has no type for is written as one that holds its values:
/// bfloat16, float8 and float4 as float32, 4- and 2-bit integers as int8 or uint8. Throws Io.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
/// The same into memory.
std::string npy_to_bytes(const Tensor& tensor);

/// The dictionary at the start of the file.
struct NpyHeader {
  std::string type;  // "<f4"
  bool fortran_order = false;
  Dims dims;
  size_t data_at = 0;  // where the elements begin
};
NpyHeader read_npy_header(std::span<const std::byte> bytes);

}  // namespace hf
