// The table of instruction handlers.
#include "isa/registry.h"

#include <unordered_map>

namespace amdgpu {

namespace {

using Table = std::unordered_map<std::string, Entry>;

Table* table = nullptr;  // never destroyed: the program may launch kernels from its own static destructors

void fill_table() {
  table = new Table;
  for (auto fill : {add_control, add_scalar, add_scalar_float, add_vector_f32, add_vector_f64, add_vector_f16,
                    add_vector_compare, add_vector_convert, add_vector_carry, add_vector_integer, add_vector_packed,
                    add_vector_dot, add_vector_float8, add_lanes})
    fill();
}

}  // namespace

void add(std::string_view name, Handler handler, std::string_view types) {
  (*table)[std::string(name)] = {handler, std::string(types)};
}

const Entry* find(const std::string& name) {
  if (!table) fill_table();
  auto it = table->find(name);
  return it == table->end() ? nullptr : &it->second;
}

}  // namespace amdgpu
