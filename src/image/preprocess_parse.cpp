// The text form of Preprocess: a table of presets and a table of JSON keys.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "image/preprocess.h"
#include "image/text.h"

namespace hf::image {
namespace {

using nlohmann::json;

struct Preset {
  std::string_view name;
  Preprocess value;
};
constexpr Preset kPresets[] = {
    {"imagenet",
     {.resize = 256,
      .crop_w = 224,
      .crop_h = 224,
      .mean = {0.485f, 0.456f, 0.406f},
      .std = {0.229f, 0.224f, 0.225f},
      .stretch = false}},
    {"lite",
     {.resize = 256,
      .crop_w = 224,
      .crop_h = 224,
      .mean = {127 / 255.f, 127 / 255.f, 127 / 255.f},
      .std = {128 / 255.f, 128 / 255.f, 128 / 255.f},
      .stretch = false,
      .filter = Filter::Bicubic}},
    {"none", {}},
    {"raw", {.scale = 1}},
    {"tf", {.mean = {0.5f, 0.5f, 0.5f}, .std = {0.5f, 0.5f, 0.5f}}},
};

constexpr int kMaxSide = 65535;

[[noreturn]] void refuse(std::string_view key, const json& got, std::string_view want) {
  fail(Code::InvalidArgument, "preprocess key '{}' is {}; want {}", key,
       excerpt(got.dump(-1, ' ', false, json::error_handler_t::replace)), want);
}

const Preprocess* find_preset(std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return &preset.value;
  }
  return nullptr;
}

template <class Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& row : table) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", row.name);
  return names;
}

int side(std::string_view key, const json& value, int least) {
  const bool good = value.is_number_integer() && value >= least && value <= kMaxSide;
  if (!good) refuse(key, value, fmt::format("a whole number from {} to {}", least, kMaxSide));
  return value.get<int>();
}

bool flag(std::string_view key, const json& value) {
  if (!value.is_boolean()) refuse(key, value, "true or false");
  return value.get<bool>();
}

std::array<float, 3> per_channel(std::string_view key, const json& value, bool positive) {
  const std::string_view want = positive ? "a positive number, or a list of 1 or 3" : "a number, or a list of 1 or 3";
  const json list = value.is_array() ? value : json::array({value});
  if (list.size() != 1 && list.size() != 3) refuse(key, value, want);
  std::array<float, 3> out{};
  for (std::size_t c = 0; c < out.size(); ++c) {
    const json& number = list[list.size() == 1 ? 0 : c];
    if (!number.is_number()) refuse(key, value, want);
    out[c] = number.get<float>();
    if (!std::isfinite(out[c]) || (positive && !(out[c] > 0))) refuse(key, value, want);
  }
  return out;
}

template <class Enum, std::size_t kCount>
Enum one_of(std::string_view key, const json& value, const std::pair<std::string_view, Enum> (&choices)[kCount]) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) return choice;
    names += fmt::format("{}'{}'", names.empty() ? "" : " or ", name);
  }
  refuse(key, value, names);
}

constexpr std::pair<std::string_view, Layout> kLayouts[] = {{"NCHW", Layout::NCHW}, {"NHWC", Layout::NHWC}};
constexpr std::pair<std::string_view, PixelType> kTypes[] = {{"float32", PixelType::Float32},
                                                             {"uint8", PixelType::Uint8}};

// Each reads one key's value; `key` is for messages.
struct Key {
  std::string_view name;
  void (*set)(Preprocess&, std::string_view key, const json&);
};
constexpr Key kKeys[] = {
    {"preset", [](Preprocess&, std::string_view, const json&) {}},  // read before all others
    {"bgr", [](Preprocess& p, std::string_view key, const json& v) { p.bgr = flag(key, v); }},
    {"crop",
     [](Preprocess& p, std::string_view key, const json& v) {
       const bool pair = v.is_array() && v.size() == 2;
       p.crop_w = side(key, pair ? v[0] : v, 1);
       p.crop_h = side(key, pair ? v[1] : v, 1);
     }},
    {"dtype", [](Preprocess& p, std::string_view key, const json& v) { p.dtype = one_of(key, v, kTypes); }},
    {"interpolation",
     [](Preprocess& p, std::string_view key, const json& v) {
       if (!v.is_string()) refuse(key, v, "a filter's name, such as 'bilinear'");
       p.filter = parse_filter(v.get_ref<const std::string&>());
     }},
    {"layout", [](Preprocess& p, std::string_view key, const json& v) { p.layout = one_of(key, v, kLayouts); }},
    {"mean", [](Preprocess& p, std::string_view key, const json& v) { p.mean = per_channel(key, v, false); }},
    {"resize", [](Preprocess& p, std::string_view key, const json& v) { p.resize = side(key, v, 0); }},
    {"scale",
     [](Preprocess& p, std::string_view key, const json& v) {
       if (!v.is_number()) refuse(key, v, "a positive number");
       p.scale = per_channel(key, v, true)[0];
     }},
    {"std", [](Preprocess& p, std::string_view key, const json& v) { p.std = per_channel(key, v, true); }},
    {"stretch", [](Preprocess& p, std::string_view key, const json& v) { p.stretch = flag(key, v); }},
};

const Key& find_key(std::string_view name) {
  for (const Key& key : kKeys) {
    if (key.name == name) return key;
  }
  fail(Code::InvalidArgument, "unknown preprocess key {}; the keys are {}", excerpt(name), names_of(kKeys));
}

const Preprocess& starting_point(const json& object) {
  const auto it = object.find("preset");
  if (it == object.end()) return *find_preset("none");
  const Preprocess* preset = it->is_string() ? find_preset(it->get_ref<const std::string&>()) : nullptr;
  if (preset == nullptr) refuse("preset", *it, "one of " + names_of(kPresets));
  return *preset;
}

}  // namespace

Preprocess parse(std::string_view text) {
  if (const Preprocess* preset = find_preset(text)) return *preset;
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || text[start] != '{') {
    fail(Code::InvalidArgument, "unknown preprocess {}; give one of {}, or a JSON object", excerpt(text),
         names_of(kPresets));
  }
  const json object =
      parse_json(text, "preprocess " + excerpt(text),
                 "give an object such as '{\"resize\": 256, \"crop\": 224}', or one of " + names_of(kPresets));
  Preprocess out = starting_point(object);
  if (object.contains("resize") || object.contains("crop")) out.stretch = false;
  for (const auto& [name, value] : object.items()) {
    const Key& key = find_key(name);
    key.set(out, key.name, value);
  }
  return out;
}

}  // namespace hf::image
