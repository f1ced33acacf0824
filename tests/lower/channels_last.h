// One operator whose first input lies channels last on the emulator, launched without an engine.
#pragma once
#include <algorithm>
#include <cmath>

#include "gpu/devices.h"
#include "lower/lowering.h"
#include "lower/on_device.h"

namespace hf::lower {

/// The values of a layout's bytes in ONNX's order, and back (padding zero; checked to be zero on the way back).
inline size_t place_of(const DeviceLayout& layout, int64_t i) {
  if (!layout.channels_last()) return static_cast<size_t>(i);
  const int64_t positions = layout.dims.count(2, layout.dims.rank()), channels = layout.dims[1];
  const int64_t n = i / (channels * positions), c = i / positions % channels;
  return static_cast<size_t>((n * positions + i % positions) * layout.pitch + c);
}
inline std::vector<float> laid_out(const Tensor& t, const DeviceLayout& layout) {
  std::vector<float> out(static_cast<size_t>(layout.bytes()) / sizeof(float));
  for (int64_t i = 0; i < t.size(); ++i) out[place_of(layout, i)] = t.data<float>()[i];
  return out;
}
inline Tensor read_out(const std::vector<float>& bytes, const DeviceLayout& layout) {
  Tensor t(DType::F32, layout.dims);
  double all = 0, own = 0;
  for (int64_t i = 0; i < t.size(); ++i) own += std::abs(t.data<float>()[i] = bytes[place_of(layout, i)]);
  for (float v : bytes) all += std::abs(v);
  EXPECT_NEAR(all, own, 1e-9 * all) << "the padding of " << layout.text() << " is not zero";
  return t;
}

/// Lowers a node of float32 with input 0 channels last, launches it, and compares output 0 with the reference. The
/// lowering must have taken the layout as it is; output 0 is to be channels last or not.
inline void check_channels_last(const OpCase& c, bool out_channels_last) {
  SCOPED_TRACE(c.name);
  ir::Graph g;
  std::vector<ir::Value*> values;
  std::vector<const Tensor*> arguments;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    values.push_back(i ? g.add_constant("c", c.inputs[i]) : g.add_input("x", DType::F32, c.inputs[0].dims()));
    arguments.push_back(&c.inputs[i]);
  }
  ir::Node* n = g.add_node(c.op, values, 1, nullptr, c.domain);
  n->attrs = c.attrs;
  ops::bind(g, *n, c.opset);
  ops::infer_node(*n);

  auto device = gpu::open_device(tested_device());
  kernel::Target target = gpu::target_of(device->info());
  std::vector<Layout> layouts = {device_channels_last(c.inputs[0].dims(), DType::F32)};
  layouts.resize(values.size());
  Answer answer = lower_node({*n, layouts, target});
  ASSERT_TRUE(std::holds_alternative<Lowered>(answer)) << std::get<Refusal>(answer).reason;
  const Lowered& l = std::get<Lowered>(answer);
  ASSERT_TRUE(l.inputs[0] == layouts[0]) << device_layout(l.inputs[0])->text();
  const DeviceLayout& out = *device_layout(l.outputs[0]);
  EXPECT_EQ(out.channels_last(), out_channels_last) << out.text();

  gpu::Stream stream(device);
  std::vector<gpu::DeviceBuffer> buffers;
  auto upload = [&](const std::vector<float>& v) -> void* {
    buffers.emplace_back(device, static_cast<int64_t>(v.size() * 4));
    device->copy_to_device(buffers.back().get(), v.data(), static_cast<int64_t>(v.size() * 4), stream.get());
    return buffers.back().get();
  };
  std::vector<void*> in, results;
  std::vector<std::vector<float>> data;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const bool used = i < l.inputs.size() && l.inputs[i].detail;
    data.push_back(used ? laid_out(c.inputs[i], *device_layout(l.inputs[i])) : std::vector<float>());
    in.push_back(used ? upload(data.back()) : nullptr);
  }
  std::vector<float> got(static_cast<size_t>(out.bytes()) / 4, -77.f);
  results.push_back(upload(got));
  int64_t workspace_bytes = 256;
  for (const kernel::Candidates& k : l.launches) workspace_bytes = std::max(workspace_bytes, k[0].workspace_bytes);
  gpu::DeviceBuffer workspace(device, workspace_bytes);
  device->fill(workspace.get(), 0xcd, workspace_bytes, stream.get());
  void* counters = upload(std::vector<float>(1024));
  for (const kernel::Candidates& k : l.launches)
    gpu::LoadedKernel(device, k[0])
        .launch(stream,
                {.inputs = in, .outputs = results, .packed = {}, .workspace = workspace.get(), .counters = counters});
  device->copy_to_host(got.data(), results[0], out.bytes(), stream.get());
  stream.synchronize();
  ops::expect_equal(read_out(got, out), ops::evaluate(*n, arguments)[0], c.tolerance, c.name);
}

}  // namespace hf::lower
