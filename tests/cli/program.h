// The built program as a user calls it, and small models and folders to call it with.
#pragma once
#include <gtest/gtest.h>
#include <onnx.pb.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hf::cli {

namespace fs = std::filesystem;
namespace pb = ::hipforge::onnx;

inline const fs::path kSource = HIPFORGE_SOURCE_DIR;
inline const std::string kResnet = (kSource / "tests/models/small/resnet/model.onnx").string();

inline std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_file(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

/// A folder of its own for a test, gone afterwards.
class TempFolder {
 public:
  TempFolder() {
    std::string text = (fs::temp_directory_path() / "hipforge-cli-XXXXXX").string();
    if (!::mkdtemp(text.data())) throw std::runtime_error("no temporary folder");
    path_ = text;
  }
  ~TempFolder() { fs::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }
  std::string string() const { return path_.string(); }

 private:
  fs::path path_;
};

struct Result {
  int status = -1;
  std::string out, err;
};

/// Runs `hipforge ARGUMENTS` in a shell, with these settings ("NAME=VALUE ").
inline Result hipforge(const std::string& arguments, const std::string& settings = "") {
  TempFolder folder;
  std::string err = (folder / "err").string();
  FILE* pipe = ::popen((settings + HIPFORGE_PROGRAM + " " + arguments + " 2>" + err).c_str(), "r");
  Result result;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.out.append(buffer, n);
  int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  result.err = read_file(err);
  return result;
}

inline std::string last_line(const std::string& text) {
  size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  size_t start = text.find_last_of('\n', end);
  return text.substr(start + 1, end - start);
}

inline void fill_port(pb::ValueInfoProto* port, const std::string& name, const std::vector<int64_t>& dims) {
  port->set_name(name);
  auto* type = port->mutable_type()->mutable_tensor_type();
  type->set_elem_type(1);
  type->mutable_shape();
  for (int64_t d : dims) {
    auto* dim = type->mutable_shape()->add_dim();
    if (d < 0)
      dim->set_dim_param("N");
    else
      dim->set_dim_value(d);
  }
}

/// Writes a float32 model: input 'x' of these extents (negative: the symbol N), and for each (operator, name) an output
/// of this name that is the operator of x.
inline void write_model(const fs::path& path, const std::vector<int64_t>& dims,
                        const std::vector<std::pair<std::string, std::string>>& outputs) {
  pb::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto* graph = model.mutable_graph();
  graph->set_name("g");
  fill_port(graph->add_input(), "x", dims);
  for (const auto& [op, name] : outputs) {
    auto* node = graph->add_node();
    node->set_op_type(op);
    node->set_name(op + " of x");
    node->add_input("x");
    node->add_output(name);
    fill_port(graph->add_output(), name, dims);
  }
  write_file(path, model.SerializeAsString());
}

/// Writes a float32 TensorProto.
inline void write_pb(const fs::path& path, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(1);
  for (int64_t d : dims) tensor.add_dims(d);
  for (float v : values) tensor.add_float_data(v);
  write_file(path, tensor.SerializeAsString());
}

/// A backend-test case: the negative of a vector, with these stored outputs.
inline void write_case(const fs::path& folder, const std::vector<float>& input, const std::vector<float>& output) {
  fs::create_directories(folder / "test_data_set_0");
  write_model(folder / "model.onnx", {static_cast<int64_t>(input.size())}, {{"Neg", "y"}});
  write_pb(folder / "test_data_set_0/input_0.pb", {static_cast<int64_t>(input.size())}, input);
  write_pb(folder / "test_data_set_0/output_0.pb", {static_cast<int64_t>(output.size())}, output);
}

}  // namespace hf::cli
