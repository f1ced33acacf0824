// .hfp files: what is written is read back, damage is one clear error, external data and kernels are found.
#include "session/package.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include "base/error.h"
#include "gpu/process.h"
#include "session/compile.h"
#include "session/random_inputs.h"

namespace hf {
namespace {

const std::string kTests = std::string(HIPFORGE_SOURCE_DIR) + "/tests/";
const std::string kResnet = kTests + "models/small/resnet/model.onnx";

FileBytes bytes_of(const std::string& text) {
  auto owner = std::make_shared<const std::string>(text);
  return {std::as_bytes(std::span(*owner)), owner};
}

std::string text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

Package sample() {
  Package p;
  p.name = "model.onnx";
  p.kernels = kernels_name();
  p.precision = DType::F16;
  p.shapes = {{{"x", Dims{1, 3}}, {"scalar", Dims{}}}, {{"x", Dims{8, 3}}, {"scalar", Dims{}}}, {}};
  p.model = bytes_of(gpu::read_file(kResnet));
  p.external = {{"a/weights.bin", bytes_of(std::string(1000, 'w'))}, {"empty", bytes_of("")}};
  auto objects = std::make_shared<gpu::CodePackage>();
  objects->arch = "gfx942";
  objects->objects = {{"key", "code"}, {"other", ""}};
  p.code.push_back({{.arch = "gfx942", .wave_size = 64, .lds_bytes = 65536, .compute_units = 304}, objects});
  return p;
}

class PackageFile : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "p.hfp"; }
  std::string written(const Package& p) const {
    write_package(path(), p);
    return gpu::read_file(path());
  }
  // Opens the bytes as a model; what that says.
  std::string opened(const std::string& bytes) const {
    gpu::write_file(path(), bytes);
    try {
      Session::open(path(), {.device = "cpu"});
      return "";
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::InvalidModel || e.code() == Code::Io) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      return e.what();
    }
  }

 private:
  gpu::TemporaryFolder folder_;
};

TEST_F(PackageFile, IsReadAsItWasWritten) {
  Package p = sample();
  EXPECT_TRUE(written(p).starts_with("\x89HFP"));
  Package q = read_package(MappedFile::open(path()));
  EXPECT_EQ(q.name, p.name);
  EXPECT_EQ(q.kernels, p.kernels);
  EXPECT_EQ(q.precision, p.precision);
  EXPECT_EQ(q.shapes, p.shapes);
  EXPECT_EQ(text_of(q.model), text_of(p.model));
  ASSERT_EQ(q.external.size(), 2u);
  for (const auto& [location, file] : q.external) {
    EXPECT_EQ(text_of(file), text_of(p.external[location]));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(file.bytes.data()) % 64, 0u) << "weights are used where they are mapped";
  }
  ASSERT_EQ(q.code.size(), 1u);
  EXPECT_EQ(q.code[0].target.arch, "gfx942");
  EXPECT_EQ(q.code[0].target.wave_size, 64);
  EXPECT_EQ(q.code[0].target.lds_bytes, 65536);
  EXPECT_EQ(q.code[0].target.compute_units, 304);
  EXPECT_EQ(q.code[0].objects->objects, p.code[0].objects->objects);
}

TEST_F(PackageFile, CutOffAnywhereIsRefused) {
  std::string whole = written(sample());
  EXPECT_EQ(opened(whole), "");
  for (size_t size = 8; size < whole.size(); size += size < 1000 ? 1 : 997)
    EXPECT_NE(opened(whole.substr(0, size)).find("cut off"), std::string::npos) << size;
  EXPECT_NE(opened(whole + "more"), "");
  EXPECT_NE(opened(whole.substr(0, 5)), "");
}

TEST_F(PackageFile, AnyByteDamagedIsRefused) {
  std::string whole = written(sample());
  size_t quiet = 0;
  for (size_t at = 0; at < whole.size(); at += at < 1000 ? 1 : 499) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    quiet += opened(bytes).empty();
  }
  EXPECT_LT(quiet, 64u) << "only the padding between sections may be anything";
}

// Checksums made good again, so that the readers themselves are met.
TEST_F(PackageFile, SectionsThatLieAreRefused) {
  std::mt19937 rng(1);
  std::string whole = written(sample());
  uint64_t sections = 0;
  std::memcpy(&sections, &whole[16], 8);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    uint64_t entry[4];
    char* at = &bytes[40 + 32 * (rng() % sections)];
    std::memcpy(entry, at, 32);
    if (entry[0] != 1 && entry[0] != 4) continue;  // the description and the code have a structure
    uint64_t word = entry[2] < 8 ? 0 : rng() % (entry[2] - 7);
    uint64_t value = round % 2 ? ~uint64_t{0} >> rng() % 64 : rng() % 300;
    std::memcpy(&bytes[entry[1] + word], &value, 8);
    gpu::write_file(path(), bytes);
    // Corrected through a package of the parts: the checksum is that of the damaged bytes.
    uint64_t sum = section_checksum({&bytes[entry[1]], entry[2]});
    std::memcpy(at + 24, &sum, 8);
    sum = section_checksum({&bytes[40], 32 * sections});
    std::memcpy(&bytes[32], &sum, 8);
    gpu::write_file(path(), bytes);
    try {
      read_package(MappedFile::open(path()));
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidModel) << e.what();
    }
  }
}

TEST_F(PackageFile, AFormatOfTheFutureIsNamed) {
  std::string bytes = written(sample());
  bytes[8] = 9;
  EXPECT_NE(opened(bytes).find("format 9, this version of hipforge reads format 1"), std::string::npos);
}

TEST_F(PackageFile, ExternalDataComesAlong) {
  CompileRequest request{.model = kTests + "load/models/good_external.onnx",
                         .output = path(),
                         .targets = {"emu"},
                         .options = {.fallback = Fallback::Allow}};
  request.for_each_shapes = [](const Session& s, const auto& plan) { plan(input_shapes(s, {})); };
  try {
    compile_model(request);
  } catch (const Error& e) {
    if (e.code() == Code::NotFound) GTEST_SKIP() << e.what();
    throw;
  }
  auto original = Session::open(request.model, {.device = "cpu"}), packed = Session::open(path(), {.device = "cpu"});
  ASSERT_NE(packed->package(), nullptr);
  EXPECT_EQ(packed->package()->external.size(), 2u);  // one file under two names
  NamedTensors inputs = random_inputs(*original, input_shapes(*original, {}));
  std::vector<Tensor> a = original->run(inputs), b = packed->run(inputs);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size_bytes(), b[i].size_bytes());
    EXPECT_EQ(std::memcmp(a[i].raw(), b[i].raw(), static_cast<size_t>(a[i].size_bytes())), 0);
  }
}

}  // namespace
}  // namespace hf
