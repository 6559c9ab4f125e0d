#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"

namespace libtrain {
namespace {

Outcome check_plan(const Examined& seen) {
  if (seen.plan) {
    return pass("a plan can be made");
  }
  return fail(seen.plan_problem, "a Runtime ends with this error",
              "correct or unset what it names");
}

Outcome check_place(const Examined& seen) {
  const LaunchFacts& launch = seen.machine.launch;
  if (launch.problem) {
    return fail(quote(*launch.problem, 300), "processes wait for ranks that never come",
                "start all processes with one launcher, and unset variables left by another");
  }
  if (!launch.launcher) {
    return skip("one process without a launcher");
  }
  return pass(fill("{}: rank {} of {}", *launch.launcher, launch.rank ? to_text(*launch.rank) : "?",
                   launch.world_size ? to_text(*launch.world_size) : "?"));
}

bool is_loopback(std::string_view address) {
  return address == "localhost" || address.starts_with("127.") || address == "::1";
}

Outcome check_master(const Examined& seen) {
  if (seen.machine.launch.world_size.value_or(1) < 2) {
    return skip("one process");
  }
  const std::string* address = variable(seen, "MASTER_ADDR");
  if (address == nullptr || variable(seen, "MASTER_PORT") == nullptr) {
    return warn_of(
        fill("{} is not set", address == nullptr ? "MASTER_ADDR" : "MASTER_PORT"),
        "a process group made from the environment ends with an error",
        "export MASTER_ADDR= the first machine's name, MASTER_PORT= a free port; torchrun "
        "sets both");
  }
  if (spans_machines(seen.machine) && is_loopback(*address)) {
    return fail(setting(seen, "MASTER_ADDR") + ", and the processes are on several machines",
                "the other machines look for rank 0 on themselves and wait in vain",
                "export MASTER_ADDR= the first machine's name");
  }
  return pass(setting(seen, "MASTER_ADDR"));
}

constexpr std::array kChecks{
    Check{"launch.plan", "can a plan be made", check_plan},
    Check{"launch.place", "does each process know its place", check_place},
    Check{"launch.master", "can processes find each other", check_master},
};

}  // namespace

std::span<const Check> launch_checks() { return kChecks; }

}  // namespace libtrain
