#include "libtrain/doctor/examined.hpp"

#include <algorithm>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/plan/make_plan.hpp"

namespace libtrain {

Examined examine(const MachineFacts& machine) {
  try {
    return {machine, make_plan({}, machine), ""};
  } catch (const Error& error) {
    return {machine, std::nullopt, error.what()};
  }
}

const std::string* variable(const Examined& seen, std::string_view name) {
  const auto found = seen.machine.launch.variables.find(std::string(name));
  return found == seen.machine.launch.variables.end() ? nullptr : &found->second;
}

bool switched_on(const Examined& seen, std::string_view name) {
  const std::string* text = variable(seen, name);
  return text != nullptr && parse_integer(*text).value_or(0) != 0;
}

std::string setting(const Examined& seen, std::string_view name) {
  return fill("{}={}", name, quote(*variable(seen, name)));
}

std::vector<const GpuFacts*> visible_gpus(const MachineFacts& machine) {
  std::vector<const GpuFacts*> out;
  for (const GpuFacts& gpu : machine.gpus) {
    if (gpu.cuda_index) {
      out.push_back(&gpu);
    }
  }
  std::ranges::sort(out, {}, [](const GpuFacts* gpu) { return *gpu->cuda_index; });
  return out;
}

std::vector<const GpuFacts*> sound_gpus(const MachineFacts& machine) {
  std::vector<const GpuFacts*> out = visible_gpus(machine);
  std::erase_if(out, [](const GpuFacts* gpu) { return gpu->problem.has_value(); });
  return out;
}

std::string name_of(const GpuFacts& gpu) {
  const std::optional<int> index = gpu.cuda_index ? gpu.cuda_index : gpu.nvml_index;
  return fill("GPU {}{}", index ? to_text(*index) : "?",
              gpu.name ? fill(" ({})", quote(*gpu.name)) : "");
}

std::string nvml_name(const GpuFacts& gpu) {
  return gpu.nvml_index ? to_text(*gpu.nvml_index) : "N";
}

bool is_idle(const GpuFacts& gpu) {
  constexpr int kFirstIdleState = 8;
  return !gpu.clock_reasons || gpu.performance_state.value_or(0) >= kFirstIdleState ||
         std::ranges::find(*gpu.clock_reasons, "idle") != gpu.clock_reasons->end();
}

int local_processes(const MachineFacts& machine) {
  return std::max(machine.launch.local_world_size.value_or(1), 1);
}

bool spans_machines(const MachineFacts& machine) {
  return machine.launch.world_size && machine.launch.local_world_size &&
         *machine.launch.world_size > *machine.launch.local_world_size;
}

}  // namespace libtrain
