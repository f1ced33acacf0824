// Damaged files: whatever the bytes, loading ends in a model or an Error.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.h"
#include "load/model.h"
#include "load/tensor_proto.h"

namespace hf::load {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = fs::path(HIPFORGE_SOURCE_DIR) / "tests/load/models";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// True if it loads. Internal errors are our bugs, whatever the file.
bool loads(const std::string& bytes) {
  try {
    ir::Model m = load_bytes(std::as_bytes(std::span(bytes)), {.folder = kFolder, .keep_unknown_operators = true});
    ir::verify(*m.graph);
    return true;
  } catch (const Error& e) {
    EXPECT_NE(e.code(), Code::Internal) << e.what();
    EXPECT_NE(e.code(), Code::OutOfMemory) << e.what();
    return false;
  }
}

const char* const kVictims[] = {"good_functions", "good_captures", "good_typed",
                                "good_sparse",    "good_external", "good_constants"};

TEST(Damage, EveryPrefixIsSurvived) {
  for (const char* name : kVictims) {
    std::string whole = read(kFolder / (std::string(name) + ".onnx"));
    ASSERT_TRUE(loads(whole));
    for (size_t n = 0; n < whole.size(); ++n) loads(whole.substr(0, n));
  }
}

TEST(Damage, RandomBytesAreSurvived) {
  std::mt19937 random(7);
  int loaded = 0;
  for (const char* name : kVictims) {
    std::string whole = read(kFolder / (std::string(name) + ".onnx"));
    for (int i = 0; i < 1500; ++i) {
      std::string bytes = whole;
      for (unsigned k = 0; k <= random() % 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
      if (i % 5 == 0) bytes.erase(random() % bytes.size(), 1 + random() % 4);
      if (i % 7 == 0) bytes.insert(random() % bytes.size(), whole.substr(random() % whole.size(), random() % 40));
      loaded += loads(bytes);
    }
  }
  EXPECT_GT(loaded, 100);  // else only the outermost checks were seen at work
}

struct Format {
  std::string bytes;
  std::string hint;
};

TEST(Damage, OtherFormatsGetAHint) {
  using namespace std::string_literals;
  const Format formats[] = {
      {"", "empty"},
      {"PK\x03\x04zip", "zip"},
      {"\x1c\0\0\0TFL3"s, "TensorFlow Lite"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
      {"<!DOCTYPE html><html>", "web page"},
      {"\x89HDF\r\n", "Keras"},
      {"This is a text, not a model.\n", "text"},
      {"\x80\x02}q\0"s, "pickle"},
      {"\x10\0\0\0\0\0\0\0{\"a\":1}"s, "safetensors"},
      {"\x1f\x8b\x08", "gunzip"},
      {"\x08\x08\x3a\xff\x01\x0a"s, "cut off or damaged at byte 2 (a field of 255 bytes in a file of 6)"},
      {"\xff\xff\xff\xff\xff\xff"s, "cut off"},
      {"\x0f\x00\x01"s, "damaged at byte 0"},
      {"\x42\x00"s, "not an ONNX model"},
  };
  for (const Format& f : formats) {
    try {
      load_bytes(std::as_bytes(std::span(f.bytes)));
      ADD_FAILURE() << f.hint;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidModel);
      EXPECT_NE(std::string(e.what()).find(f.hint), std::string::npos) << e.what() << "\nlacks: " << f.hint;
    }
  }
}

TEST(Damage, PathsThatAreNoFiles) {
  auto code = [](const fs::path& path) {
    try {
      load_file(path);
    } catch (const Error& e) {
      return e.code();
    }
    return Code::Internal;
  };
  EXPECT_EQ(code(kFolder / "nothing.onnx"), Code::NotFound);
  EXPECT_EQ(code(kFolder / "good_plain.onnx" / "x"), Code::NotFound);
  EXPECT_EQ(code(kFolder), Code::Io);
  EXPECT_EQ(code("/dev/zero"), Code::Io);
}

}  // namespace
}  // namespace hf::load
