#include "libtrain/probe/probe.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "libtrain/probe/build_facts.hpp"
#include "libtrain/probe/cgroup.hpp"
#include "libtrain/probe/cpu.hpp"
#include "libtrain/probe/cuda_driver.hpp"
#include "libtrain/probe/gpus.hpp"
#include "libtrain/probe/host.hpp"
#include "libtrain/probe/launch.hpp"
#include "libtrain/probe/loaded_libraries.hpp"
#include "libtrain/probe/machine_sources.hpp"
#include "libtrain/probe/measured.hpp"
#include "libtrain/probe/network.hpp"

namespace libtrain {

namespace {

LibraryFacts probe_libraries(const Sources& sources) {
  LibraryFacts out = build_facts();
  if (const std::optional<std::string> maps = sources.read("/proc/self/maps")) {
    out.loaded = parse_loaded_libraries(*maps);
  }
  return out;
}

}  // namespace

MachineFacts probe_machine() { return probe_machine(MachineSources{}); }

MachineFacts probe_machine(const Sources& sources) {
  const CgroupLimits limits = probe_cgroup(sources);
  GpuProbe gpus = probe_gpus(sources);
  MachineFacts machine{.host = probe_host(sources, limits),
                       .cpu = probe_cpu(sources, limits),
                       .gpu_driver = std::move(gpus.driver),
                       .gpus = std::move(gpus.gpus),
                       .library = probe_libraries(sources),
                       .launch = launch_from_environment(sources.environment()),
                       .network = probe_network(sources),
                       .measured = {}};
  machine.measured = probe_measured(sources, machine);
  return machine;
}

MachineFacts probe_machine_and_cuda() { return probe_machine_and_cuda(MachineSources{}); }

MachineFacts probe_machine_and_cuda(const Sources& sources) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(900);
  const auto library = sources.open_library("libcuda.so.1");
  std::optional<CudaQuestion> question;
  if (library != nullptr) {
    question.emplace(*library);
  }
  MachineFacts machine = probe_machine(sources);
  GpuDriverFacts& driver = machine.gpu_driver;
  if (machine.gpus.empty() || driver.problem) {
    return machine;
  }
  CudaListing listing{.devices = {}, .problem = "libcuda.so.1 cannot be loaded"};
  if (question) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    listing = question->answer(std::max(left, std::chrono::milliseconds(1)));
  }
  if (!listing.timed_out) {
    driver.cuda_starts = !listing.problem;
    driver.cuda_problem = listing.problem;
  }
  return machine;
}

}  // namespace libtrain
