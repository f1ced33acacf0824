// Reading model files.
#include "load/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <onnx.pb.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "load/builder.h"
#include "load/diagnose.h"
#include "load/limits.h"

namespace hf::load {
namespace {

void parse(std::span<const std::byte> bytes, pb::ModelProto& model) {
  if (bytes.size() > static_cast<size_t>(kLimits.file_bytes))
    fail(Code::Unsupported,
         "the file has {} bytes, over protobuf's limit of 2 GiB: save it with its weights as external data",
         bytes.size());
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kLimits.message_depth);
  bool whole = model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
  if (!whole || (!model.has_graph() && !model.has_ir_version())) fail_not_onnx(bytes);
  if (!model.has_graph()) fail(Code::InvalidModel, "the model has no graph");
}

void check_ir_version(int64_t version) {
  if (version < kLimits.oldest_ir)
    fail(Code::Unsupported, "IR version {} is older than {}, the oldest handled", version, kLimits.oldest_ir);
  if (version > kLimits.newest_ir)
    log::warn("load", "IR version {} is newer than {}, the newest known: what is new in it is ignored", version,
              kLimits.newest_ir);
}

}  // namespace

ir::Model load_bytes(std::span<const std::byte> bytes, const LoadOptions& options) {
  pb::ModelProto proto;
  parse(bytes, proto);
  check_ir_version(proto.ir_version());
  Builder builder(proto, options);
  ir::Model model;
  model.graph = builder.build();
  model.ir_version = proto.ir_version();
  model.opsets = builder.opsets();
  if (options.external_read) *options.external_read = builder.external();
  if (auto it = model.opsets.find(""); it != model.opsets.end()) model.opset = it->second;
  model.producer = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.description = proto.doc_string();
  for (const auto& entry : proto.metadata_props()) model.metadata[entry.key()] = entry.value();
  return model;
}

ir::Model load_file(const std::filesystem::path& path, const LoadOptions& options) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  auto where = context([&] { return path.filename().string(); });
  LoadOptions with_folder = options;
  if (with_folder.folder.empty()) with_folder.folder = path.has_parent_path() ? path.parent_path() : ".";
  ir::Model model = load_bytes(file->bytes(), with_folder);
  model.path = path.string();
  return model;
}

}  // namespace hf::load
