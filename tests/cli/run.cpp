// hipforge run: outputs, files, photos, bad values.
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/npy.h"
#include "cli/program.h"

namespace hf::cli {

using Json = nlohmann::json;

TEST(Run, MadeUpInputsAreSaidAndEachOutputDescribed) {
  TempFolder t;
  write_model(t / "m.onnx", {2, 3}, {{"Neg", "y"}, {"Abs", "z"}});
  Result r = hipforge("run " + (t / "m.onnx").string());
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_NE(r.out.find("made-up"), std::string::npos);
  EXPECT_NE(r.out.find("y  float32 [2, 3]  min -"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("z  float32 [2, 3]  min "), std::string::npos) << r.out;
  EXPECT_NE(last_line(r.out).find("latency"), std::string::npos);
  EXPECT_TRUE(last_line(r.out).starts_with("cpu ("));
}

TEST(Run, InputsComeFromEitherFormatAndOutputsGoToFilesWithSafeNames) {
  TempFolder t;
  write_model(t / "m.onnx", {-1, 2}, {{"Neg", "a/b"}, {"Abs", "a:b"}, {"Relu", "A_b"}, {"Identity", ".."}});
  write_pb(t / "x.pb", {2, 2}, {1, -2, 3, -4});
  write_npy(t / "x.npy", Tensor::of<float>({2, 2}, {1, -2, 3, -4}));
  for (const char* file : {"x.pb", "x.npy"}) {
    fs::path out = t / (std::string("out/") + file);
    Result r = hipforge("run " + (t / "m.onnx").string() + " --input x=" + (t / file).string() + " --output-dir " +
                        out.string() + " --repeat 0");
    ASSERT_EQ(r.status, 0) << r.err;
    const std::pair<const char*, std::vector<float>> wanted[] = {{"a_b.npy", {-1, 2, -3, 4}},
                                                                 {"a_b_2.npy", {1, 2, 3, 4}},
                                                                 {"A_b_3.npy", {1, 0, 3, 0}},
                                                                 {"...npy", {1, -2, 3, -4}}};
    for (const auto& [name, values] : wanted) {
      const Tensor y = read_npy(out / name);
      ASSERT_EQ(y.dims(), (Dims{2, 2})) << name;
      for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(y.data<float>()[i], values[i]) << name;
    }
    EXPECT_NE(r.out.find("(first run)"), std::string::npos) << r.out;
  }
}

TEST(Run, NamesMayBeLongAndHoldAnything) {
  TempFolder t;
  const std::string name(300, 'n');
  write_model(t / "m.onnx", {1}, {{"Neg", name}, {"Abs", "\x1b[31m\n"}, {"Relu", name + "2"}});
  Result r = hipforge("run " + (t / "m.onnx").string() + " --repeat 0 --output-dir " + (t / "out").string());
  ASSERT_EQ(r.status, 0) << r.err;
  for (const std::string& file : {std::string(200, 'n'), std::string(200, 'n') + "_2", std::string("__31m_")})
    EXPECT_TRUE(fs::exists(t / ("out/" + file + ".npy"))) << file;
  EXPECT_NE(r.out.find("\n [31m   float32 [1]"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find('\x1b'), std::string::npos);
  r = hipforge("inspect --nodes " + (t / "m.onnx").string());
  EXPECT_NE(r.out.find(" [31m "), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find('\x1b'), std::string::npos);
}

TEST(Run, WrongTensorsAreTheUsersFault) {
  TempFolder t;
  write_model(t / "m.onnx", {2}, {{"Neg", "y"}});
  write_npy(t / "int.npy", Tensor::of<int32_t>({2}, {1, 2}));
  write_npy(t / "long.npy", Tensor::of<float>({3}, {1, 2, 3}));
  write_file(t / "cut.npy", read_file(t / "long.npy").substr(0, 130));
  std::string run = "run " + (t / "m.onnx").string() + " --input ";
  for (const char* file : {"int.npy", "long.npy", "cut.npy"}) {
    Result r = hipforge(run + "x=" + (t / file).string());
    EXPECT_EQ(r.status, 2) << file << r.err;
  }
  EXPECT_EQ(hipforge(run + "nosuch=" + (t / "long.npy").string()).status, 5);
}

TEST(Run, BadValuesAreWarnedOfAndStrictMakesThemAFailure) {
  TempFolder t;
  write_model(t / "m.onnx", {4}, {{"Log", "y"}});
  write_pb(t / "x.pb", {4}, {1, 0, -1, -2});
  std::string run = "run " + (t / "m.onnx").string() + " --input x=" + (t / "x.pb").string();
  Result r = hipforge(run);
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.err, "hipforge: warning: output 'y' holds 2 NaN and 1 infinite values of 4\n");
  EXPECT_EQ(hipforge(run + " --strict").status, 1);
  Json json = Json::parse(hipforge(run + " --json").out);
  EXPECT_EQ(json["outputs"][0]["nan"], 2);
  EXPECT_EQ(json["outputs"][0]["max"], 0);
}

TEST(Run, TheSameSeedGivesTheSameValues) {
  TempFolder t;
  write_model(t / "m.onnx", {5}, {{"Neg", "y"}});
  auto first = [&](const std::string& seed) {
    Result r = hipforge("run " + (t / "m.onnx").string() + " --json --seed " + seed);
    return Json::parse(r.out)["outputs"][0]["first"];
  };
  EXPECT_EQ(first("3"), first("3"));
  EXPECT_NE(first("3"), first("4"));
}

TEST(Run, SymbolsTakeTheirShapes) {
  TempFolder t;
  write_model(t / "m.onnx", {-1, 2}, {{"Neg", "y"}});
  std::string run = "run " + (t / "m.onnx").string() + " --json --shape ";
  EXPECT_EQ(Json::parse(hipforge(run + "N=7").out)["outputs"][0]["shape"], Json({7, 2}));
  EXPECT_EQ(Json::parse(hipforge(run + "x=3x2").out)["outputs"][0]["shape"], Json({3, 2}));
}

TEST(Run, PhotosGetTheirClasses) {
  TempFolder t;
  write_file(t / "labels.txt", "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
  std::string photo = (kSource / "assets/photo.jpg").string();
  Result r = hipforge("run " + kResnet + " --image " + photo + " --image " + photo + " --top 3 --labels " +
                      (t / "labels.txt").string());
  ASSERT_EQ(r.status, 0) << r.err;
  std::istringstream lines(r.out);
  std::string line, guesses[2];
  for (std::string& all : guesses) {
    std::getline(lines, line);
    EXPECT_EQ(line, photo);
    for (int i = 0; i < 3; ++i) {
      std::getline(lines, line);
      EXPECT_EQ(line.substr(0, 2), "  ");
      EXPECT_EQ(line.substr(7, 3), "%  ") << line;
      all += line + "\n";
    }
  }
  EXPECT_EQ(guesses[0], guesses[1]);
  Json json = Json::parse(hipforge("run " + kResnet + " --json --image " + photo).out);
  EXPECT_EQ(json["images"][0]["top"].size(), 5u);
  EXPECT_TRUE(json["images"][0]["top"][0]["label"].get<std::string>().starts_with("class "));
}

TEST(Run, PhotosOfAModelWithAFixedBatchRunOneByOne) {
  TempFolder t;
  write_model(t / "m.onnx", {1, 3, 8, 8}, {{"Identity", "y"}});
  std::string photo = (kSource / "assets/photo.jpg").string();
  Result r = hipforge("run " + (t / "m.onnx").string() + " --preprocess none --image " + photo + " --image " + photo);
  ASSERT_EQ(r.status, 0) << r.err;
  // No classes: the tensors are described, in the range of "none".
  size_t first = r.out.find("y  float32 [1, 3, 8, 8]  min 0."),
         second = r.out.find("y  float32 [1, 3, 8, 8]", first + 1);
  EXPECT_NE(first, std::string::npos) << r.out;
  EXPECT_NE(second, std::string::npos) << r.out;
}

TEST(Run, AModelWithoutAPictureRefusesPhotos) {
  TempFolder t;
  write_model(t / "m.onnx", {1, 5, 8, 8}, {{"Neg", "y"}});
  Result r = hipforge("run " + (t / "m.onnx").string() + " --image " + (kSource / "assets/photo.jpg").string());
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("'x' float32 [1, 5, 8, 8]"), std::string::npos) << r.err;
}

TEST(Run, DumpsArePutWhereTheyAreAsked) {
  TempFolder t;
  Result r = hipforge("run " + kResnet + " --dump passes " + (t / "p").string() + " --dump plan " + (t / "q").string());
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_FALSE(fs::is_empty(t / "p"));
  EXPECT_NE(read_file(t / "q/plan0.txt").find("Conv"), std::string::npos);
}

}  // namespace hf::cli
