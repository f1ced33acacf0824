// .npy files: every form that NumPy writes, and damaged ones.
#include "base/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/convert.h"
#include "base/error.h"

namespace hf {
namespace {

// A file as numpy.lib.format describes it, put together here and not by the writer under test.
std::string file(const std::string& header, const std::string& data, int version = 1) {
  std::string out("\x93NUMPY", 6);
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(header.size() >> (8 * i) & 255);
  return out + header + data;
}

Tensor parse(const std::string& bytes) { return npy_from_bytes(std::as_bytes(std::span(bytes))); }

Code code_of(const std::string& bytes) {
  try {
    parse(bytes);
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "not refused";
  return Code::Internal;
}

const std::string kPlain = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n";

TEST(Npy, ReadsAllVersions) {
  for (int version = 1; version <= 3; ++version) {
    Tensor t = parse(file(kPlain, std::string("\1\0\2\0\3\0\4\0\5\0\6\1", 12), version));
    EXPECT_EQ(t.text(), "int16 [2, 3]");
    EXPECT_EQ(to_ints(t), (std::vector<int64_t>{1, 2, 3, 4, 5, 262}));
  }
}

TEST(Npy, ConvertsFortranOrder) {
  // Columns first: element (r, c) stands at c * 2 + r.
  Tensor t = parse(file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "\1\2\3\4\5\6"));
  EXPECT_EQ(to_ints(t), (std::vector<int64_t>{1, 3, 5, 2, 4, 6}));
}

TEST(Npy, ConvertsBigEndian) {
  Tensor t = parse(file("{'descr': '>i4', 'fortran_order': False, 'shape': (1,)}", std::string("\0\0\1\2", 4)));
  EXPECT_EQ(to_ints(t), (std::vector<int64_t>{258}));
  Tensor c =
      parse(file("{'descr': '>c8', 'fortran_order': False, 'shape': ()}", std::string("\x3f\x80\0\0\xc0\0\0\0", 8)));
  EXPECT_EQ(c.dtype(), DType::C64);
  EXPECT_EQ(static_cast<const float*>(c.raw())[0], 1.0f);   // 0x3f800000
  EXPECT_EQ(static_cast<const float*>(c.raw())[1], -2.0f);  // 0xc0000000
}

TEST(Npy, MakesBoolsProper) {
  Tensor t = parse(file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\1\xff", 3)));
  EXPECT_EQ(to_ints(t), (std::vector<int64_t>{0, 1, 1}));
}

TEST(Npy, ReadsStrings) {
  std::string data(
      "h\0\0\0\xe9\0\0\0\x0d\xf6\x01\0"
      "a\0\0\0\0\0\0\0\0\0\0\0",
      24);
  Tensor t = parse(file("{'descr': '<U3', 'fortran_order': False, 'shape': (2,)}", data));
  EXPECT_EQ(t.strings(), (std::vector<std::string>{"h\xc3\xa9\xf0\x9f\x98\x8d", "a"}));
  Tensor s = parse(file("{'descr': '|S2', 'fortran_order': True, 'shape': (1, 2)}", std::string("abc\0", 4)));
  EXPECT_EQ(s.strings(), (std::vector<std::string>{"ab", "c"}));
}

TEST(Npy, RefusesWhatItCannotHold) {
  auto with_type = [](const std::string& type) {
    return file("{'descr': " + type + ", 'fortran_order': False, 'shape': (1,)}", std::string(64, '\0'));
  };
  for (const char* type : {"'|V2'", "'|O'", "'<M8[ns]'", "'<f16'", "[('a', '<f4')]", "'<U'", "'<U99999999999'", "''"})
    EXPECT_EQ(code_of(with_type(type)), Code::Unsupported) << type;
}

TEST(Npy, RefusesDamage) {
  std::string whole = file(kPlain, std::string(12, '\1'));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_EQ(code_of(whole.substr(0, n)), Code::InvalidArgument) << n;
  for (const char* header :
       {"{}", "{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'fortran_order': 1, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "{'x': 1}", "{'descr': '<f4",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}"})
    EXPECT_EQ(code_of(file(header, "1234")), Code::InvalidArgument) << header;
  EXPECT_THROW(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}", "")), Error);
}

TEST(Npy, SurvivesRandomDamage) {
  std::mt19937 random(1);
  std::string whole = file("{'descr': '<U2', 'fortran_order': True, 'shape': (2, 3), }\n", std::string(48, '\1'));
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      parse(bytes);
    } catch (const Error&) {
    }
  }
}

TEST(Npy, WritesWhatItReads) {
  Tensor strings(DType::String, {2});
  strings.strings() = {"z\xc3\xbc", ""};
  const Tensor all[] = {Tensor::of<float>({2, 1}, {1.5f, -2}),
                        Tensor::scalar(3.0),
                        Tensor::of<bool>({3}, {true, false, true}),
                        Tensor::of<uint64_t>({1}, {~uint64_t{0}}),
                        Tensor::of<int8_t>({0, 4}, {}),
                        strings};
  for (const Tensor& t : all) {
    std::string bytes = npy_to_bytes(t);
    EXPECT_EQ(read_npy_header(std::as_bytes(std::span(bytes))).data_at % 64, 0u);
    Tensor back = parse(bytes);
    ASSERT_EQ(back.text(), t.text());
    if (t.dtype() == DType::String)
      EXPECT_EQ(back.strings(), t.strings());
    else
      EXPECT_EQ(std::memcmp(back.raw(), t.raw(), static_cast<size_t>(t.size_bytes())), 0);
  }
}

TEST(Npy, WidensWhatNumPyLacks) {
  Tensor b(DType::BF16, {1}), i(DType::I4, {3});
  static_cast<uint16_t*>(b.raw())[0] = 0xbfc0;  // -1.5
  static_cast<uint8_t*>(i.raw())[0] = 0x7f;     // -1, 7
  static_cast<uint8_t*>(i.raw())[1] = 0x08;     // -8
  Tensor wide = parse(npy_to_bytes(b));
  EXPECT_EQ(wide.dtype(), DType::F32);
  EXPECT_EQ(to_number(wide), -1.5);
  EXPECT_EQ(parse(npy_to_bytes(i)).dtype(), DType::I8);
  EXPECT_EQ(to_ints(parse(npy_to_bytes(i))), (std::vector<int64_t>{-1, 7, -8}));
}

}  // namespace
}  // namespace hf
