// Tensors in files of either format.
#include "session/tensor_file.h"

#include "base/convert.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/npy.h"
#include "load/tensor_proto.h"

namespace hf {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

bool is_npy(const std::filesystem::path& path) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  return text.starts_with(kNpyMagic);
}

// What write_npy() stores a tensor of this dtype as, which NumPy lacks; Undefined if it has it.
DType widened(DType dtype) {
  if (is_float(dtype) && bits(dtype) <= 16 && dtype != DType::F16) return DType::F32;
  if (!is_sub_byte(dtype)) return DType::Undefined;
  return is_signed_int(dtype) ? DType::I8 : DType::U8;
}

}  // namespace

Tensor load_tensor(const std::filesystem::path& path, DType wanted) {
  try {
    if (!is_npy(path)) return load::read_tensor(path);
    Tensor t = read_npy(path);
    if (t.dtype() != widened(wanted)) return t;
    Tensor narrow(wanted, t.dims());
    ReadAs<float> values(t);
    write_elements(values.data(), narrow);
    return narrow;
  } catch (const Error& e) {
    if (e.code() != Code::InvalidModel) throw;
    // Damaged data is no model's fault here, but the fault of what the user gave.
    std::string text(words(Code::InvalidArgument));
    throw Error(Code::InvalidArgument, text + (e.what() + words(Code::InvalidModel).size()));
  }
}

}  // namespace hf
