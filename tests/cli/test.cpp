// hipforge test: verdicts, known failures, and what survives a bad case.
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace hf::cli {

TEST(Test, PassesAndFailuresAreCountedAndNamed) {
  TempFolder t;
  write_case(t / "good", {1, 2}, {-1, -2});
  write_case(t / "deep/down/wrong", {1, 2}, {-1, -2.5});
  write_case(t / "near", {1, 2}, {-1, -2.0001f});
  write_case(t / "shape", {1, 2}, {-1, -2, -3});
  Result r = hipforge("test " + t.string());
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.out,
            "FAIL wrong: output 'y': 1 of 2 elements differ, largest difference 0.5, first at [1]: got -2, wanted "
            "-2.5\n"
            "FAIL shape: output 'y': got float32 [2], wanted float32 [3]\n"
            "2 passed, 2 failed\n");
  r = hipforge("test " + (t / "good").string() + "/ " + (t / "near").string());
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.out, "2 passed, 0 failed\n");
  EXPECT_EQ(hipforge("test --no-fork " + t.string()).status, 1);
}

TEST(Test, AToleranceFileReplacesTheTable) {
  TempFolder t;
  write_case(t / "loose", {1, 2}, {-1, -2.5});
  write_file(t / "loose/tolerance", "0.3\n");
  write_case(t / "tight", {1, 2}, {-1, -2.0001f});
  write_file(t / "tight/tolerance", "1e-6\n");
  Result r = hipforge("test " + t.string());
  EXPECT_EQ(last_line(r.out), "1 passed, 1 failed");
  EXPECT_TRUE(r.out.starts_with("FAIL tight")) << r.out;
}

TEST(Test, ExpectedErrorsMustCome) {
  TempFolder t;
  write_case(t / "refused", {1, 2}, {-1, -2});
  write_model(t / "refused/model.onnx", {2}, {{"NoSuchOperator", "y"}});
  write_case(t / "runs", {1, 2}, {-1, -2});
  for (const char* name : {"refused", "runs"}) write_file(t / name / "expect_error", "");
  Result r = hipforge("test " + t.string());
  EXPECT_EQ(r.out, "FAIL runs: an error was expected, and it ran\n1 passed, 1 failed\n");
  for (const char* name : {"refused", "runs"}) {
    fs::remove(t / name / "expect_error");
    write_file(t / name / "expect_any", "");
  }
  EXPECT_EQ(hipforge("test " + t.string()).out, "2 passed, 0 failed\n");
}

TEST(Test, KnownFailuresAreSkippedAndUnexpectedPassesFail) {
  TempFolder t;
  write_case(t / "good", {1, 2}, {-1, -2});
  write_case(t / "wrong", {1, 2}, {-1, -3});
  write_file(t / "known", "# a comment\nwrong  by design  # of the test\n\nabsent no case of this name\n");
  std::string test = "test " + t.string() + " --known-failures " + (t / "known").string();
  Result r = hipforge(test);
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.out, "1 passed, 0 failed, 1 skipped\n");
  EXPECT_NE(hipforge(test + " --verbose").out.find("known wrong: by design"), std::string::npos);
  write_file(t / "known", "good\twas broken\nwrong by design\n");
  r = hipforge(test);
  EXPECT_EQ(r.status, 1);
  EXPECT_TRUE(r.out.starts_with("FAIL good: unexpected pass")) << r.out;
  EXPECT_EQ(last_line(r.out), "0 passed, 1 failed, 1 skipped");
}

TEST(Test, DamagedCasesFailWithAReason) {
  TempFolder t;
  write_case(t / "a_no_model", {1}, {-1});
  write_file(t / "a_no_model/model.onnx", "this is no model");
  write_case(t / "b_no_data", {1}, {-1});
  fs::remove_all(t / "b_no_data/test_data_set_0");
  write_case(t / "c_bad_data", {1}, {-1});
  write_file(t / "c_bad_data/test_data_set_0/input_0.pb", "\xff\xff");
  write_case(t / "d_no_output", {1}, {-1});
  fs::remove(t / "d_no_output/test_data_set_0/output_0.pb");
  write_case(t / "e_bad_tolerance", {1}, {-1});
  write_file(t / "e_bad_tolerance/tolerance", "much");
  write_case(t / "f_no_input", {1}, {-1});
  fs::remove(t / "f_no_input/test_data_set_0/input_0.pb");
  Result r = hipforge("test " + t.string());
  EXPECT_EQ(last_line(r.out), "0 passed, 6 failed") << r.out;
  for (const char* text : {"FAIL a_no_model: invalid model", "FAIL b_no_data: there is no test_data_set_*",
                           "FAIL c_bad_data: invalid argument", "FAIL d_no_output: no output_0.pb",
                           "FAIL e_bad_tolerance: invalid argument", "FAIL f_no_input: invalid argument"})
    EXPECT_NE(r.out.find(text), std::string::npos) << text << "\n" << r.out;
}

TEST(Test, JsonHoldsEveryCase) {
  TempFolder t;
  write_case(t / "good", {1, 2}, {-1, -2});
  write_case(t / "wrong", {1, 2}, {-1, -3});
  Result r = hipforge("test --json --jobs 1 " + t.string());
  EXPECT_EQ(r.status, 1);
  auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["passed"], 1);
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["cases"][1]["name"], "wrong");
  EXPECT_EQ(json["cases"][1]["result"], "failed");
}

TEST(Test, TheSmallModelsRun) {
  std::string folder = (kSource / "tests/models/small").string();
  for (const char* optimize : {"all", "none"}) {
    Result r = hipforge("test " + folder + "/resnet " + folder + "/gru --optimize " + optimize);
    EXPECT_EQ(last_line(r.out), "2 passed, 0 failed") << r.out;
  }
}

}  // namespace hf::cli
