// Lowering, and kernels that fail.
#include "engine/lowering_backend.h"

#include <algorithm>

namespace hf::engine {

using lower::Lowered;
using plan::Layout;
using plan::Prepared;

std::variant<Prepared, Refusal> LoweringBackend::prepare(const ir::Node& node, std::span<const Layout> layouts) {
  if (!node.subgraphs().empty()) return Refusal{"it has subgraphs"};
  lower::Answer answer = lower::lower_node({node, layouts, target_, precision_});
  if (auto* refusal = std::get_if<Refusal>(&answer)) return *refusal;
  return prepared(std::get<Lowered>(answer), node);
}

Prepared LoweringBackend::convert(const ir::Value& value, const Layout& from, const Layout& to) {
  const auto *a = lower::device_layout(from), *b = lower::device_layout(to);
  check(a && b, "the engine converts its own layouts");
  auto work = std::make_shared<Work>();
  work->text = fmt::format("{} to {}", a->text(), b->text());
  auto where = context([&] { return fmt::format("value '{}': {}", value.name, work->text); });
  Lowered lowered;
  lowered.launches.push_back(lower::convert_layout(*a, *b, target_));
  lowered.inputs = {from};
  lowered.outputs = {to};
  Refusal refusal = choose(lowered, *work);
  if (!refusal.reason.empty()) fail(Code::Unsupported, "{}", refusal.reason);
  return of(std::move(work));
}

Layout LoweringBackend::transfer_layout(const ir::Value& value) const {
  return lower::device_rows(value.shape.get(), value.dtype);
}

bool LoweringBackend::finish() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Work>> works;
  for (auto& weak : unfinished_)
    if (auto work = weak.lock()) works.push_back(std::move(work));
  unfinished_.clear();
  for (const auto& work : works) {
    for (const kernel::KernelSpec& s : work->specs) kernels_.want(s);
    for (const lower::Packing& p : work->packings)
      if (!p.host) kernels_.want(p.kernel);
  }
  if (!kernels_.load() || !settle(works)) return false;
  for (const auto& work : works) make_ready(*work);
  return true;
}

int LoweringBackend::kernels_loaded() const {
  std::lock_guard lock(mutex_);
  return kernels_.count();
}

// The preferred candidate of each launch, else the first against which nothing is known; a reason if there is none.
Refusal LoweringBackend::choose(const Lowered& lowered, Work& work) {
  std::lock_guard lock(mutex_);
  for (const kernel::Candidates& candidates : lowered.launches) {
    auto works = [&](const kernel::KernelSpec& s) { return kernels_.failure(s).empty(); };
    auto usable = candidates.begin() + static_cast<ptrdiff_t>(preferred(candidates));
    if (!works(*usable)) usable = std::find_if(candidates.begin(), candidates.end(), works);
    if (usable == candidates.end()) return {"its kernel failed: " + kernels_.failure(candidates.front())};
    work.specs.push_back(*usable);
  }
  work.candidates = lowered.launches;
  auto needs = [](const std::vector<Layout>& layouts) {
    std::vector<BufferNeed> all;
    for (const Layout& l : layouts) {
      const lower::DeviceLayout* d = lower::device_layout(l);
      all.push_back(d ? BufferNeed{d->bytes(), d->stored} : BufferNeed{});
    }
    return all;
  };
  work.inputs = needs(lowered.inputs);
  work.outputs = needs(lowered.outputs);
  for (const lower::Packing& packing : lowered.packings)
    if (!packing.host && !kernels_.failure(packing.kernel).empty())
      return {"its packing failed: " + kernels_.failure(packing.kernel)};
  return {};
}

std::variant<Prepared, Refusal> LoweringBackend::prepared(Lowered& lowered, const ir::Node& node) {
  Prepared p;
  p.inputs = lowered.inputs;
  p.outputs = lowered.outputs;
  p.absorbed = std::move(lowered.absorbed);
  p.in_place = std::move(lowered.in_place);
  p.alias = lowered.alias;
  if (lowered.alias >= 0) return p;
  auto work = std::make_shared<Work>();
  work->text = lowered.text;
  if (Refusal refusal = choose(lowered, *work); !refusal.reason.empty()) return refusal;
  for (const lower::Packing& packing : lowered.packings) {
    std::vector<Tensor> inputs;
    for (int i : packing.inputs) inputs.push_back(node.input(i)->constant);
    if (packing.host)  // it may have looked at any of them
      for (const ir::Value* v : node.inputs())
        if (v && v->is_constant()) inputs.push_back(v->constant);
    work->constants.push_back(std::move(inputs));
  }
  work->packings = std::move(lowered.packings);
  Prepared made = of(std::move(work));
  p.kernel = std::move(made.kernel);
  p.scratch_bytes = made.scratch_bytes;
  return p;
}

Prepared LoweringBackend::of(std::shared_ptr<Work> work) {
  Prepared p;
  p.scratch_bytes = work->workspace_bytes();
  p.kernel = std::make_unique<NodeKernel>(work);
  std::lock_guard lock(mutex_);
  unfinished_.push_back(work);
  return p;
}

}  // namespace hf::engine
