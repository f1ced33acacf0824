// External data: ways out of the model's folder, files that are none, and large ones.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <onnx.pb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "load/model.h"

namespace hf::load {
namespace {

namespace fs = std::filesystem;
namespace pb = ::hipforge::onnx;

// A folder with a model whose initializer lies in a file, and a file outside the folder.
class External : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hipforge_external_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(root_ / "model/sub");
    fs::create_directories(root_ / "outside");
    for (const char* file : {"outside/secret.bin", "model/w.bin", "model/sub/w.bin"})
      std::ofstream(root_ / file) << "12345678";
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string model(const std::string& location, int64_t offset = 0, int64_t count = 2) {
    pb::ModelProto m;
    m.set_ir_version(8);
    m.add_opset_import()->set_version(17);
    pb::TensorProto& t = *m.mutable_graph()->add_initializer();
    t.set_name("w");
    t.set_data_type(1);
    t.add_dims(count);
    t.set_data_location(1);
    for (auto [key, text] : {std::pair("location", location), std::pair("offset", std::to_string(offset))}) {
      auto* entry = t.add_external_data();
      entry->set_key(key);
      entry->set_value(text);
    }
    m.mutable_graph()->add_output()->set_name("w");
    return m.SerializeAsString();
  }

  Tensor load(const std::string& location, int64_t offset = 0, int64_t count = 2) {
    std::ofstream(root_ / "model/m.onnx", std::ios::binary) << model(location, offset, count);
    return load_file(root_ / "model/m.onnx").graph->outputs()[0]->constant;
  }

  void expect_refused(const std::string& location, Code code = Code::InvalidModel) {
    try {
      load(location);
      ADD_FAILURE() << location << " is not refused";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
    }
  }

  fs::path root_;
};

TEST_F(External, FilesInTheFolderAreRead) {
  float wanted = 0;
  std::memcpy(&wanted, "5678", 4);
  EXPECT_EQ(load("w.bin").data<float>()[1], wanted);
  EXPECT_EQ(load("sub/w.bin").data<float>()[1], wanted);
  EXPECT_EQ(load("./sub/./w.bin").data<float>()[1], wanted);
}

TEST_F(External, PathsOutAreRefused) {
  expect_refused("../outside/secret.bin");
  expect_refused("sub/../../outside/secret.bin");
  expect_refused("sub/../w.bin");
  expect_refused((root_ / "outside/secret.bin").string());
  expect_refused((root_ / "model/w.bin").string());
}

TEST_F(External, LinksAreRefused) {
  fs::create_symlink(root_ / "outside/secret.bin", root_ / "model/link.bin");
  fs::create_directory_symlink(root_ / "outside", root_ / "model/link");
  fs::create_symlink("w.bin", root_ / "model/inner.bin");
  fs::create_hard_link(root_ / "outside/secret.bin", root_ / "model/hard.bin");
  fs::create_symlink("nowhere", root_ / "model/dangling.bin");
  for (const char* location : {"link.bin", "link/secret.bin", "inner.bin", "hard.bin", "dangling.bin"})
    expect_refused(location);
}

TEST_F(External, WhatIsNoFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((root_ / "model/pipe").c_str(), 0600), 0);
  expect_refused("pipe");  // would wait for a writer
  expect_refused("sub");
  expect_refused(".");
  expect_refused("w.bin/x");
  expect_refused("missing.bin", Code::NotFound);
  expect_refused("missing/w.bin", Code::NotFound);
}

TEST_F(External, AModelFromMemoryNeedsAFolder) {
  std::string bytes = model("w.bin");
  EXPECT_THROW(load_bytes(std::as_bytes(std::span(bytes))), Error);
  ir::Model m = load_bytes(std::as_bytes(std::span(bytes)), {.folder = root_ / "model"});
  EXPECT_EQ(m.graph->outputs()[0]->constant.size(), 2);
}

TEST_F(External, MoreThanFourGiBAreMappedNotRead) {
  int64_t count = int64_t{5} << 28;  // 5 GiB of float32, a hole in the file but for its end
  fs::path path = root_ / "model/large.bin";
  std::ofstream(path).close();
  if (::truncate(path.c_str(), 64 + count * 4) != 0) GTEST_SKIP() << "no large files here";
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(64 + (count - 1) * 4)
      .write("\0\0\x80\x3f", 4);
  Tensor t = load("large.bin", 64, count);
  EXPECT_EQ(t.size(), count);
  EXPECT_EQ(t.data<float>()[0], 0.0f);
  EXPECT_EQ(t.data<float>()[count - 1], 1.0f);
  EXPECT_THROW(load("large.bin", 68, count), Error);
}

TEST_F(External, AModelOverProtobufsLimitIsToldWhatToDo) {
  fs::path path = root_ / "model/large.onnx";
  std::ofstream(path).close();
  if (::truncate(path.c_str(), int64_t{3} << 30) != 0) GTEST_SKIP() << "no large files here";
  try {
    load_file(path);
    ADD_FAILURE() << "not refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Unsupported);
    EXPECT_NE(std::string(e.what()).find("external data"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace hf::load
