// Every model of the corpora at hand loads, or is refused for a reason that is expected.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "load/model.h"

namespace hf::load {
namespace fs = std::filesystem;

// Folders of ONNX's form: each holds model.onnx; "expect_error" and "expect_any" beside it say that it may be refused.
void expect_folder_loads(const fs::path& root) {
  if (!fs::exists(root)) GTEST_SKIP() << root << " is not here";
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "model.onnx") continue;
    ++count;
    fs::path folder = entry.path().parent_path();
    bool may_fail = fs::exists(folder / "expect_error") || fs::exists(folder / "expect_any");
    try {
      ir::Model model = load_file(entry.path(), {.keep_unknown_operators = true});
      ir::verify(*model.graph);
    } catch (const Error& e) {
      if (!may_fail) ADD_FAILURE() << folder.filename() << ": " << e.what();
    }
  }
  EXPECT_GT(count, 0);
}

TEST(Corpus, OnnxNodeTests) { expect_folder_loads("/usr/share/libonnx-testdata/data"); }

}  // namespace hf::load
