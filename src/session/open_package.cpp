// Using a package.
#include "session/open_package.h"

#include "base/error.h"
#include "kernel/target_facts.h"
#include "load/model.h"

namespace hf {
namespace {

std::string made_for(const Package& package) {
  std::string text;
  for (const Shapes& shapes : package.shapes) {
    text += text.empty() ? "" : " or ";
    for (const auto& [name, dims] : shapes) text += fmt::format("{} {}, ", name, dims.text());
    if (!shapes.empty()) text.resize(text.size() - 2);
  }
  return fmt::format("{} in {}", text, name(package.precision));
}

}  // namespace

ir::Model load_package(const std::filesystem::path& path, const std::shared_ptr<const MappedFile>& file,
                       std::shared_ptr<const Package>& package) {
  auto where = context([&] { return path.filename().string(); });
  auto read = std::make_shared<Package>(read_package(file));
  ir::Model model = load::load_bytes(read->model.bytes, {.folder = {}, .external = read->external});
  model.path = path.string();
  package = std::move(read);
  return model;
}

void offer_kernels(const Package& package) {
  if (package.kernels == kernels_name())
    for (const Package::Code& code : package.code) gpu::offer(code.objects);
}

PackagedKernels kernels_for(const Package& package, const gpu::DeviceInfo& device) {
  std::string_view arch = kernel::plain_arch(device.arch);
  if (package.code.empty()) return {.why_not = "the package has no kernels"};
  if (package.kernels != kernels_name()) return {.why_not = "the package's kernels are of another version of hipforge"};
  std::string others;
  for (const Package::Code& code : package.code) {
    if (code.target.arch == arch && code.target.wave_size == device.wave_size)
      return {.code = &code, .made_for = made_for(package)};
    others += (others.empty() ? "" : ", ") + code.target.arch;
  }
  return {.why_not = fmt::format("the package has no kernels for '{}', only for {}", arch, others)};
}

}  // namespace hf
