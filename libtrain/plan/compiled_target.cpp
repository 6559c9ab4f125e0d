#include "libtrain/plan/compiled_target.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace libtrain {
namespace {

enum class Reach { kOnward, kFamily, kExact };

struct CompiledTarget {
  ComputeCapability capability;
  bool machine_code = true;
  bool ptx = false;
  Reach reach = Reach::kOnward;
};

ComputeCapability with_today_s_name(ComputeCapability capability) {
  return capability == ComputeCapability{10, 1} ? ComputeCapability{11, 0} : capability;
}

std::optional<CompiledTarget> parse_target(std::string_view text) {
  constexpr std::string_view kPtx = "+PTX";
  const std::optional<ComputeCapability> capability = parse_compute_capability(text);
  if (!capability) {
    return std::nullopt;
  }
  CompiledTarget target{.capability = with_today_s_name(*capability)};
  target.machine_code = !text.starts_with("compute_");
  target.ptx = !target.machine_code || text.ends_with(kPtx);
  if (text.ends_with(kPtx)) {
    text.remove_suffix(kPtx.size());
  }
  if (text.ends_with('a')) {
    target.reach = Reach::kExact;
  } else if (text.ends_with('f')) {
    target.reach = Reach::kFamily;
  }
  return target;
}

bool is_integrated(ComputeCapability capability) {
  constexpr ComputeCapability kIntegrated[] = {{5, 3}, {6, 2}, {7, 2}, {8, 7}};
  return std::ranges::find(kIntegrated, capability) != std::end(kIntegrated);
}

bool share_machine_code(ComputeCapability code, ComputeCapability device,
                        std::optional<Version> cuda) {
  if (code == device) {
    return true;
  }
  if (is_integrated(code)) {
    return false;
  }
  const bool unified = cuda >= Version{13, 2, 0} && device >= ComputeCapability{7, 2};
  return !is_integrated(device) || unified;
}

/// Rank of the way `target` would run: 0 not at all, 1 compiled from PTX at first use, 2 directly.
int way_to_run(const CompiledTarget& target, ComputeCapability device,
               std::optional<Version> cuda) {
  const bool exact = target.capability == device;
  const bool same_major = target.capability.major == device.major && target.capability <= device;
  if (target.reach == Reach::kExact && !exact) {
    return 0;
  }
  if (target.reach == Reach::kFamily && !same_major) {
    return 0;
  }
  if (target.machine_code && same_major && share_machine_code(target.capability, device, cuda)) {
    return 2;
  }
  return target.ptx && target.capability <= device ? 1 : 0;
}

}  // namespace

std::optional<std::string> serving_target(std::span<const std::string> targets,
                                          ComputeCapability device, std::optional<Version> cuda) {
  std::optional<std::string> best;
  std::tuple<int, ComputeCapability> best_rank{0, {}};
  for (const std::string& text : targets) {
    const std::optional<CompiledTarget> target = parse_target(text);
    if (!target) {
      continue;
    }
    const std::tuple rank{way_to_run(*target, with_today_s_name(device), cuda), target->capability};
    if (std::get<0>(rank) > 0 && rank > best_rank) {
      best = text;
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace libtrain
