// Making a plan: which nodes can be planned, their kernels, their buffers.
#include "plan/plan.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ops/op.h"

namespace hf::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_known(const Value* v) {
  return v->kind == ir::TypeKind::Tensor && v->dtype != DType::Undefined && v->dtype != DType::String &&
         v->shape.is_static();
}

// Memory that one or several values share.
struct Buffer {
  int64_t bytes = 0;
  int first = 0, last = 0;
  Place place;
  int remaining = 0;  // uses yet to come of the values in it
};

// One way in which a value lies somewhere.
struct Version {
  Layout layout;
  int buffer;
};

class Planner {
 public:
  Planner(std::unique_ptr<Graph> graph, std::span<Backend* const> backends) : backends_(backends) {
    plan_ = std::make_unique<Plan>();
    plan_->graph = std::move(graph);
    for (Backend* b : backends) (b->space() == Space::Device ? device_ : host_) = b;
    plan_->device_backend = device_;
  }

  std::unique_ptr<Plan> make() {
    const Graph& g = *plan_->graph;
    split();
    int index = 0;
    for (const Value* v : g.inputs()) place_outside(v, Place::Input, index++);
    for (const Value* v : g.captures()) place_outside(v, Place::Input, index++);
    for (const Node* n : planned_) add_node(*n);
    // What is read after the last step outlives all of them, also the copies that bring the others here.
    for (const Value* v : plan_->live_out) plain_version(v);
    for (const Value* v : g.outputs())
      if (has_version(v)) plain_version(v);
    int end = static_cast<int>(plan_->steps.size());
    for (const Value* v : plan_->live_out) use(v, plain_version(v), end);
    place_outputs(end);
    assign_arena();
    for (const Value* v : plan_->live_out)
      plan_->live_places.push_back({final_place(plain_version(v)), v->dtype, v->shape.get()});
    return std::move(plan_);
  }

 private:
  // Sorts the nodes into planned ones, breakers and the tail.
  void split() {
    const Graph& g = *plan_->graph;
    std::vector<const Node*> tail;
    for (const Node* n = g.first(); n; n = n->next()) {
      bool waits = false, known = n->subgraphs().empty();
      for (const Value* v : n->inputs()) {
        waits |= v && later_.count(v);
        known &= !v || is_known(v);
      }
      for (const Value* v : n->outputs()) known &= !v || is_known(v);
      if (!waits && known) {
        planned_.push_back(n);
        for (const Value* v : n->inputs())
          if (v) ++remaining_[v];
        continue;
      }
      if (waits)
        tail.push_back(n);
      else
        plan_->breakers.push_back(n);
      for (const Value* v : n->outputs())
        if (v) later_.insert(v);
    }
    for (const Node* n : plan_->breakers)
      for (const Value* v : n->inputs())
        if (v && !v->is_constant()) need_alive(v);
    for (const Value* v : g.outputs())
      if (is_known(v)) ++remaining_[v];
    if (!tail.empty()) make_tail(tail);
    for (const Node* n : plan_->breakers)
      plan_->placements.push_back({n->name, n->op, "cpu", n->subgraphs().empty() ? "reference" : "control flow",
                                   n->subgraphs().empty() ? "the output's shape depends on data" : ""});
  }

  void need_alive(const Value* v) {
    // Otherwise it is a tensor of the run already: made by a breaker, or a graph input of strings.
    if (later_.count(v) || !is_known(v) || !alive_.insert(v).second) return;
    plan_->live_out.push_back(v);
    ++remaining_[v];
  }

  void make_tail(const std::vector<const Node*>& nodes) {
    const Graph& g = *plan_->graph;
    auto tail = std::make_unique<Graph>();
    tail->name = g.name;
    std::unordered_map<const Value*, Value*> to;
    auto map = [&](const Value* v) -> Value* {
      if (!v) return nullptr;
      auto it = to.find(v);
      if (it != to.end()) return it->second;
      if (v->is_constant()) return to[v] = tail->add_constant(v->name, v->constant);
      plan_->tail_inputs.push_back(v);
      need_alive(v);
      Value* input = tail->add_input(v->name, v->dtype, v->shape);
      input->kind = v->kind;
      return to[v] = input;
    };
    for (const Node* n : nodes) {
      std::vector<Value*> inputs, outputs;
      for (const Value* v : n->inputs()) inputs.push_back(map(v));
      for (const Value* v : n->outputs()) {
        Value* made = v ? tail->add_value(v->name, v->dtype, v->shape) : nullptr;
        if (v) to[v] = made;
        outputs.push_back(made);
      }
      tail->add_copy(*n, inputs, outputs);
    }
    std::set<const Node*> in_tail(nodes.begin(), nodes.end());
    int count = 0;
    for (const Value* v : g.outputs()) {
      bool made = v->producer() && in_tail.count(v->producer());
      if (made) tail->add_output(to.at(v));
      plan_->tail_outputs.push_back(made ? count++ : -1);
    }
    plan_->tail = std::move(tail);
  }

  int new_buffer(int64_t bytes, Place place, int first) {
    buffers_.push_back({bytes, first, first, place, 0});
    return static_cast<int>(buffers_.size()) - 1;
  }

  void add_version(const Value* v, Layout layout, int buffer) {
    versions_[v].push_back({std::move(layout), buffer});
    buffers_[static_cast<size_t>(buffer)].remaining += remaining_[v];
  }

  void place_outside(const Value* v, Place::Kind kind, int index) {
    if (is_known(v)) add_version(v, {}, new_buffer(0, {kind, index}, 0));
  }

  int find_version(const Value* v, const Layout& layout) const {
    if (auto all = versions_.find(v); all != versions_.end())
      for (const Version& known : all->second)
        if (known.layout == layout) return known.buffer;
    return -1;
  }

  // The version that a conversion to `space` starts from: one in that space, if there is any. Of those on a device the
  // newest: a kernel wanted it so, and others will, while the first may be only how the value came there.
  Version source_for(const Value* v, Space space) const {
    const std::vector<Version>& all = versions_.at(v);
    for (size_t i = all.size(); space == Space::Device && i-- > 0;)
      if (all[i].layout.space() == space) return all[i];
    for (const Version& known : all)
      if (known.layout.space() == space) return known;
    return all.front();
  }

  int place_constant(const Value* v, const Layout& layout) {
    Place place{Place::Constant, static_cast<int64_t>(plan_->constants.size())};
    if (layout.space() == Space::Device) {
      place = {Place::DeviceConstant, static_cast<int64_t>(plan_->device_constants.size())};
      plan_->device_constants.push_back(device_->place_constant(v->constant, layout));
    } else {
      plan_->constants.push_back(v->constant);
    }
    plan_->weight_bytes += v->constant.size_bytes();
    int buffer = new_buffer(0, place, 0);
    add_version(v, layout, buffer);
    return buffer;
  }

  static int64_t bytes_of(const Value* v, const Layout& layout) {
    return layout.plain() ? storage_bytes(v->dtype, v->shape.get().count()) : layout.detail->bytes();
  }
  int new_arena_buffer(const Value* v, const Layout& layout) {
    Place::Kind kind = layout.space() == Space::Device ? Place::DeviceArena : Place::Arena;
    return new_buffer(bytes_of(v, layout), {kind}, static_cast<int>(plan_->steps.size()));
  }

  // The version of a value in this layout; converted, or copied between host and device, if it has none.
  int version(const Value* v, const Layout& layout) {
    if (int known = find_version(v, layout); known >= 0) return known;
    if (v->is_constant() && (layout.space() == Space::Device || !versions_.count(v))) {
      if (layout.space() == Space::Device) return place_constant(v, layout);
      if (find_version(v, {}) < 0) place_constant(v, {});
      return version(v, layout);
    }
    Version from = source_for(v, layout.space());
    Step step;
    if (from.layout.space() != layout.space()) {
      bool up = layout.space() == Space::Device;
      Layout near = up ? Layout{} : device_->transfer_layout(*v), far = up ? device_->transfer_layout(*v) : Layout{};
      if (!(layout == far)) {
        version(v, far);
        return version(v, layout);
      }
      from = {near, version(v, near)};
      step.kind = up ? Step::Upload : Step::Download;
      step.backend = device_->name();
      step.bytes = storage_bytes(v->dtype, v->shape.get().count());
      step.staging = plan_->device.staging_bytes;
      step.label = (up ? "upload " : "download ") + v->name;
      plan_->device.staging_bytes += (step.bytes + 255) / 256 * 256;
    } else {
      Backend& backend = layout.space() == Space::Device ? *device_ : *host_;
      Prepared conversion = backend.convert(*v, from.layout, layout);
      if (layout.space() == Space::Device) step.kind = Step::Device;
      step.kernel = std::move(conversion.kernel);
      step.backend = backend.name();
      need_scratch(step, conversion.scratch_bytes);
      step.label = "reorder " + v->name;
    }
    int now = static_cast<int>(plan_->steps.size());
    extend(from.buffer, now);
    int buffer = new_arena_buffer(v, layout);
    step_buffers_.push_back({{from.buffer}, {buffer}});
    plan_->steps.push_back(std::move(step));
    add_version(v, layout, buffer);
    return buffer;
  }

  int plain_version(const Value* v) { return version(v, {}); }
  bool has_version(const Value* v) const { return is_known(v) && (versions_.count(v) || v->is_constant()); }

  void need_scratch(Step& step, int64_t bytes) {
    step.scratch_bytes = bytes;
    int64_t& most = step.kind == Step::Device ? plan_->device.scratch_bytes : plan_->scratch_bytes;
    most = std::max(most, bytes);
  }

  void extend(int buffer, int step) {
    Buffer& b = buffers_[static_cast<size_t>(buffer)];
    b.last = std::max(b.last, step);
  }
  void use(const Value* v, int buffer, int step) {
    extend(buffer, step);
    used(v);
  }
  void used(const Value* v) {
    --remaining_[v];
    if (auto all = versions_.find(v); all != versions_.end())
      for (const Version& each : all->second) --buffers_[static_cast<size_t>(each.buffer)].remaining;
  }

  bool reusable(int buffer, const Node& n, int input) {
    const Buffer& b = buffers_[static_cast<size_t>(buffer)];
    if ((b.place.kind != Place::Arena && b.place.kind != Place::DeviceArena) || b.remaining > 0) return false;
    for (size_t i = 0; i < n.inputs().size(); ++i)  // another operand in the same memory, perhaps with other extents
      if (static_cast<int>(i) != input && i < current_inputs_.size() && current_inputs_[i] == buffer) return false;
    return true;
  }

  void add_node(const Node& n) {
    auto where = context([&] { return "node " + n.text(); });
    std::string reasons;
    for (Backend* backend : backends_) {
      std::vector<Layout> layouts(n.inputs().size());
      for (size_t i = 0; i < layouts.size(); ++i)
        if (const Value* v = n.inputs()[i]; v && !v->is_constant()) {
          layouts[i] = source_for(v, backend->space()).layout;
          if (layouts[i].space() != backend->space()) layouts[i] = {};
        }
      auto result = backend->prepare(n, layouts);
      if (auto* prepared = std::get_if<Prepared>(&result)) return add_prepared(n, *backend, *prepared, reasons);
      if (!reasons.empty()) reasons += "; ";
      reasons += fmt::format("{}: {}", backend->name(), std::get<Refusal>(result).reason);
    }
    fail(Code::Unsupported, "no backend takes it: {}", reasons);
  }

  void add_prepared(const Node& n, Backend& backend, Prepared& p, const std::string& reasons) {
    auto layout_of = [](const std::vector<Layout>& all, size_t i) { return i < all.size() ? all[i] : Layout{}; };
    current_inputs_.assign(n.inputs().size(), -1);
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.inputs()[i];
      bool absorbed = i < p.absorbed.size() && p.absorbed[i];
      if (v && !absorbed) current_inputs_[i] = version(v, layout_of(p.inputs, i));
    }
    int now = static_cast<int>(plan_->steps.size());
    for (size_t i = 0; i < n.inputs().size(); ++i) {
      if (!n.inputs()[i]) continue;
      if (current_inputs_[i] >= 0)
        use(n.inputs()[i], current_inputs_[i], now);
      else
        used(n.inputs()[i]);
    }
    std::string text = p.kernel ? p.kernel->text() : "alias";
    plan_->placements.push_back({n.name, n.op, std::string(backend.name()), text,
                                 reasons.empty() || p.why.empty() ? reasons + p.why : reasons + "; " + p.why});
    if (p.alias >= 0) {
      add_version(n.output(), layout_of(p.outputs, 0), current_inputs_[static_cast<size_t>(p.alias)]);
      return;
    }
    std::vector<int> outputs;
    for (size_t i = 0; i < n.outputs().size(); ++i) {
      const Value* v = n.outputs()[i];
      if (!v) {
        outputs.push_back(-1);
        continue;
      }
      Layout layout = layout_of(p.outputs, i);
      int buffer = -1;
      if (i == 0)
        for (int candidate : p.in_place) {
          int b = current_inputs_[static_cast<size_t>(candidate)];
          if (b >= 0 && buffers_[static_cast<size_t>(b)].bytes == bytes_of(v, layout) && reusable(b, n, candidate)) {
            buffer = b;
            break;
          }
        }
      if (buffer < 0) buffer = new_arena_buffer(v, layout);
      extend(buffer, now);
      add_version(v, layout, buffer);
      outputs.push_back(buffer);
    }
    Step step;
    step.node = &n;
    if (backend.space() == Space::Device) step.kind = Step::Device;
    step.kernel = std::move(p.kernel);
    need_scratch(step, p.scratch_bytes);
    step.backend = backend.name();
    step.label = n.name;
    step_buffers_.push_back({current_inputs_, outputs});
    plan_->steps.push_back(std::move(step));
  }

  // Lets kernels write graph outputs straight into the caller's tensors where one buffer is one output.
  void place_outputs(int end) {
    const Graph& g = *plan_->graph;
    for (size_t i = 0; i < g.outputs().size(); ++i) {
      const Value* v = g.outputs()[i];
      OutputSource source{{Place::Dynamic, 0}, v->dtype, {}};
      if (has_version(v)) {
        int buffer = plain_version(v);
        use(v, buffer, end);
        Buffer& b = buffers_[static_cast<size_t>(buffer)];
        if (b.place.kind == Place::Arena && b.bytes == storage_bytes(v->dtype, v->shape.get().count()))
          b.place = {Place::Output, static_cast<int64_t>(i)};
        source.dims = v->shape.get();
        output_buffers_.push_back(buffer);
      } else {
        output_buffers_.push_back(-1);
      }
      plan_->outputs.push_back(source);
    }
  }

  Place final_place(int buffer) const { return buffer < 0 ? Place{} : buffers_[static_cast<size_t>(buffer)].place; }

  // Runs of steps without one of the host. Copies of a segment are made together, up before it and down after it: what
  // came down in it (seen under other extents, say) goes up in the next.
  void find_segments() {
    auto& steps = plan_->steps;
    for (size_t i = 0; i < steps.size();) {
      size_t last = i;
      std::unordered_set<int> came_down;
      for (; last < steps.size() && steps[last].kind != Step::Host; ++last) {
        if (steps[last].kind == Step::Upload && came_down.contains(step_buffers_[last].first[0])) break;
        if (steps[last].kind == Step::Download) came_down.insert(step_buffers_[last].second[0]);
      }
      if (last > i) plan_->segments.push_back({i, last});
      for (size_t k = i; k < last; ++k) {
        if (steps[k].kind == Step::Upload) {
          Buffer& to = buffers_[static_cast<size_t>(step_buffers_[k].second[0])];
          to.first = std::min(to.first, static_cast<int>(i));
        }
        if (steps[k].kind == Step::Download) extend(step_buffers_[k].first[0], static_cast<int>(last) - 1);
      }
      i = std::max(last, i + 1);
    }
  }

  int64_t assign(Place::Kind kind, int64_t alignment) {
    std::vector<Lifetime> lifetimes;
    std::vector<size_t> of;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].place.kind != kind) continue;
      lifetimes.push_back({buffers_[i].bytes, buffers_[i].first, buffers_[i].last});
      of.push_back(i);
    }
    int64_t total = assign_offsets(lifetimes, alignment);
    for (size_t i = 0; i < of.size(); ++i) buffers_[of[i]].place.offset = lifetimes[i].offset;
    return total;
  }

  void assign_arena() {
    find_segments();
    plan_->arena_bytes = assign(Place::Arena, 64);
    plan_->device.arena_bytes = assign(Place::DeviceArena, 256);
    for (size_t s = 0; s < plan_->steps.size(); ++s) {
      for (int b : step_buffers_[s].first) plan_->steps[s].inputs.push_back(final_place(b));
      for (int b : step_buffers_[s].second) plan_->steps[s].outputs.push_back(final_place(b));
    }
    for (size_t i = 0; i < output_buffers_.size(); ++i)
      if (output_buffers_[i] >= 0) plan_->outputs[i].place = final_place(output_buffers_[i]);
  }

  std::span<Backend* const> backends_;
  Backend *device_ = nullptr, *host_ = nullptr;
  std::unique_ptr<Plan> plan_;
  std::vector<const Node*> planned_;
  std::vector<Buffer> buffers_;
  std::unordered_map<const Value*, std::vector<Version>> versions_;
  std::unordered_map<const Value*, int> remaining_;  // uses yet to come
  std::unordered_set<const Value*> later_;           // made by a breaker or the tail
  std::unordered_set<const Value*> alive_;
  std::vector<std::pair<std::vector<int>, std::vector<int>>> step_buffers_;
  std::vector<int> current_inputs_, output_buffers_;
};

std::string place_text(const Place& p) {
  constexpr const char* names[] = {"-",      "arena",   "constant",     "input",
                                   "output", "dynamic", "device arena", "device constant"};
  return p.kind == Place::Nowhere ? "-" : fmt::format("{}:{}", names[p.kind], p.offset);
}

}  // namespace

std::unique_ptr<Plan> make_plan(std::unique_ptr<Graph> graph, std::span<Backend* const> backends) {
  constexpr int kAttempts = 64;  // each refuses at least one kernel more
  for (int attempt = 0;; ++attempt) {
    std::unique_ptr<Plan> plan = Planner(std::move(graph), backends).make();
    if (!plan->device_backend || plan->device_backend->finish()) return plan;
    check(attempt < kAttempts, "a backend refuses what it could not finish");
    graph = std::move(plan->graph);
  }
}

std::string to_text(const Plan& plan) {
  std::string out = fmt::format("arena {} bytes, scratch {} bytes, constants {} bytes\n", plan.arena_bytes,
                                plan.scratch_bytes, plan.weight_bytes);
  if (plan.device_backend)
    out += fmt::format("device arena {} bytes, scratch {} bytes, staging {} bytes\n", plan.device.arena_bytes,
                       plan.device.scratch_bytes, plan.device.staging_bytes);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    std::string inputs, outputs;
    for (const Place& p : s.inputs) inputs += (inputs.empty() ? "" : ", ") + place_text(p);
    for (const Place& p : s.outputs) outputs += (outputs.empty() ? "" : ", ") + place_text(p);
    out += fmt::format("{:4} {} = {} [{}] ({})  # '{}'\n", i, outputs, s.node ? s.node->op : "reorder",
                       s.kernel ? s.kernel->text() : fmt::format("copy of {} bytes", s.bytes), inputs, s.label);
  }
  for (const Node* n : plan.breakers) out += fmt::format("     breaker {}\n", n->text());
  if (plan.tail) out += fmt::format("     tail of {} nodes\n", plan.tail->node_count());
  return out;
}

}  // namespace hf::plan
