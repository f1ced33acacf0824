// TensorProto files: every dtype there and back, and what is no tensor.
#include "load/tensor_proto.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace hf::load {
namespace {

Code code_of(std::string_view bytes) {
  try {
    tensor_from_bytes(std::as_bytes(std::span(bytes)));
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "not refused";
  return Code::Internal;
}

TEST(TensorProto, KeepsEveryDtype) {
  for (int number = 1; number < kDTypeCount; ++number) {
    auto dtype = static_cast<DType>(number);
    Tensor t(dtype, {3, 1});
    if (dtype == DType::String) t.strings() = {"a", "", std::string("b\0c", 3)};
    for (int64_t i = 0; i < t.size_bytes(); ++i)
      static_cast<uint8_t*>(t.raw())[i] = static_cast<uint8_t>(dtype == DType::Bool ? i & 1 : 37 * i + 1);
    std::string bytes = tensor_to_bytes(t, "x");
    Tensor back = tensor_from_bytes(std::as_bytes(std::span(bytes)));
    ASSERT_EQ(back.text(), t.text());
    if (dtype == DType::String)
      EXPECT_EQ(back.strings(), t.strings());
    else
      EXPECT_EQ(std::memcmp(back.raw(), t.raw(), static_cast<size_t>(t.size_bytes())), 0) << name(dtype);
  }
}

TEST(TensorProto, FilesGoThereAndBack) {
  auto path = std::filesystem::temp_directory_path() / "hipforge_tensor_test.pb";
  write_tensor(path, Tensor::of<float>({2}, {1, 2}));
  EXPECT_EQ(read_tensor(path).data<float>()[1], 2.0f);
  std::filesystem::remove(path);
  EXPECT_THROW(read_tensor(path), Error);
  EXPECT_THROW(write_tensor(path / "no" / "folder", Tensor::scalar(1.0f)), Error);
}

TEST(TensorProto, RefusesOtherMessages) {
  using namespace std::string_view_literals;
  // By hand in protobuf's wire format: field 1 a dim of 1, field 2 the type uint8, field 9 the raw bytes.
  std::string_view good = "\x08\x01\x10\x02\x4a\x01\x07"sv;
  EXPECT_EQ(tensor_from_bytes(std::as_bytes(std::span(good))).data<uint8_t>()[0], 7);
  // A sequence of that tensor: field 2 the kind, field 3 the tensor.
  EXPECT_EQ(code_of("\x10\x01\x1a\x07\x08\x01\x10\x02\x4a\x01\x07"sv), Code::Unsupported);
  // Empty ones: a kind alone, and a name with a kind.
  EXPECT_EQ(code_of("\x10\x01"sv), Code::Unsupported);
  EXPECT_EQ(code_of("\x0a\x03seq\x10\x01"sv), Code::Unsupported);
  EXPECT_EQ(code_of(""sv), Code::InvalidModel);
  EXPECT_EQ(code_of("hello"sv), Code::InvalidModel);
  EXPECT_EQ(code_of("\x08\x02\x10\x02\x4a\x01\x07"sv), Code::InvalidModel);  // two elements, one byte
  EXPECT_EQ(code_of("\x08\x01\x10\x63\x4a\x01\x07"sv), Code::InvalidModel);  // type 99
  EXPECT_EQ(code_of("\x08\x01\x10\x02\x70\x01"sv), Code::InvalidModel);      // external, but no folder
}

}  // namespace
}  // namespace hf::load
