// hipforge inspect, bench and env: their reports.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace hf::cli {

using Json = nlohmann::json;

TEST(Inspect, CountsOfASmallModel) {
  TempFolder t;
  write_model(t / "m.onnx", {-1, 4}, {{"Neg", "y"}, {"Abs", "z"}});
  Result r = hipforge("inspect " + (t / "m.onnx").string());
  EXPECT_EQ(r.status, 0) << r.err;
  for (const char* text :
       {"IR version 8", "ai.onnx 17", "x  float32 [N, 4]", "y  float32 [N, 4]", "2: 1 x ", "1 x Neg"})
    EXPECT_NE(r.out.find(text), std::string::npos) << text << "\n" << r.out;
  Json json = Json::parse(hipforge("inspect --json --shape N=3 " + (t / "m.onnx").string()).out);
  EXPECT_EQ(json["operators"]["Neg"], 1);
  EXPECT_EQ(json["inputs"][0]["shape"], Json({"N", 4}));
  EXPECT_EQ(json["shapes"]["x"], Json({3, 4}));
  EXPECT_EQ(json["opsets"][""], 17);
  EXPECT_GE(json["placements"].size(), 1u);
}

TEST(Inspect, ArithmeticAndParametersOfAResnet) {
  Json one = Json::parse(hipforge("inspect --json " + kResnet).out);
  Json eight = Json::parse(hipforge("inspect --json --shape N=8 " + kResnet).out);
  EXPECT_GT(one["macs"], 0);
  EXPECT_EQ(eight["macs"].get<int64_t>(), 8 * one["macs"].get<int64_t>());
  EXPECT_EQ(one["parameter_bytes"].get<int64_t>(), 4 * one["parameters"].get<int64_t>());
  std::string nodes = hipforge("inspect --nodes " + kResnet).out;
  EXPECT_NE(nodes.find("/classify/Gemm"), std::string::npos);
}

TEST(Inspect, UnknownOperatorsAreListed) {
  TempFolder t;
  write_model(t / "m.onnx", {4}, {{"NoSuch", "y"}, {"NorThis", "z"}});
  Result r = hipforge("inspect " + (t / "m.onnx").string());
  EXPECT_EQ(r.status, 4);
  EXPECT_NE(r.err.find("NoSuch"), std::string::npos);
  EXPECT_NE(r.err.find("NorThis"), std::string::npos);
}

TEST(Bench, EachBatchHasARow) {
  Result r = hipforge("bench --json --time 0.02 --batch 1,3 --profile " + kResnet);
  ASSERT_EQ(r.status, 0) << r.err;
  Json json = Json::parse(r.out);
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][0]["batch"], 1);
  EXPECT_EQ(json["rows"][1]["batch"], 3);
  for (const Json& row : json["rows"]) {
    const Json& l = row["latency_ms"];
    EXPECT_LE(l["min"], l["median"]);
    EXPECT_LE(l["median"], l["p95"]);
    EXPECT_LE(l["p95"], l["p99"]);
    EXPECT_GE(row["runs"], 3);
    EXPECT_GE(row["threads"], 1);
    EXPECT_GT(row["peak_mib"], 1);
    EXPECT_NEAR(row["throughput"].get<double>() * l["median"].get<double>() / 1e3, row["batch"].get<double>(), 1e-6);
    EXPECT_GT(row["profile"].size(), 1u);
  }
}

TEST(Bench, AFixedBatchIsRefusedAndOtherwiseKept) {
  TempFolder t;
  write_model(t / "m.onnx", {4, 2}, {{"Neg", "y"}});
  std::string bench = "bench --time 0.001 " + (t / "m.onnx").string();
  Result r = hipforge(bench + " --batch 8");
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("[4, 2]"), std::string::npos);
  EXPECT_EQ(Json::parse(hipforge(bench + " --json").out)["rows"][0]["batch"], 4);
  EXPECT_EQ(Json::parse(hipforge(bench + " --json --batch 4").out)["rows"][0]["batch"], 4);
}

TEST(Bench, SidesOfPicturesAreMadeUpAndErrorsSayWhatElseWas) {
  TempFolder t;
  write_model(t / "m.onnx", {-1, 3, -1, -1}, {{"Neg", "y"}});
  // The three open extents share the symbol N; one that is a side decides.
  Json json = Json::parse(hipforge("inspect --json " + (t / "m.onnx").string()).out);
  EXPECT_EQ(json["shapes"]["x"], Json({224, 3, 224, 224}));
  Result r = hipforge("bench " + (kSource / "tests/models/small/gpt2_past/model.onnx").string());
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("made-up extents N = 1, S = 1, T = 1, P = 1: set them with --shape"), std::string::npos)
      << r.err;
  EXPECT_EQ(hipforge("run " + (kSource / "tests/models/small/gpt2_past/model.onnx").string() + " --shape T=2").status,
            0);
}

TEST(Bench, TablesHaveALineARow) {
  std::string bench = "bench --time 0.001 --batch 1,2 " + kResnet;
  std::string csv = hipforge(bench + " --csv").out, markdown = hipforge(bench + " --markdown").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), ',') % 3, 0);
  EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '\n'), 4);
  EXPECT_TRUE(markdown.starts_with("| batch |")) << markdown;
}

TEST(Env, ListsTheSettings) {
  EXPECT_NE(hipforge("env").out.find("HIPFORGE_LOG"), std::string::npos);
  Json settings = Json::parse(hipforge("env --json").out);
  auto log = std::find_if(settings.begin(), settings.end(), [](auto& s) { return s["variable"] == "HIPFORGE_LOG"; });
  ASSERT_NE(log, settings.end());
  EXPECT_EQ((*log)["default"], "warn");
}

}  // namespace hf::cli
