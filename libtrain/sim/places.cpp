#include "libtrain/sim/places.hpp"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/function.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "libtrain/sim/sim.hpp"

namespace libtrain::sim {
namespace {

/// So many nodes' places are kept before the oldest are forgotten, all at once.
constexpr size_t kMostNodes = 100'000;

std::atomic<bool> x_on = false;

/// The places of forward operators by what autograd knows a node by: its thread and number.
struct ForwardPlaces {
  std::mutex mutex;
  std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<const Frames>> of_node;
};

ForwardPlaces& forward_places() {
  static auto* places = new ForwardPlaces;
  return *places;
}

/// Autograd makes a node, with the next number, right before it runs the operator.
void keep_for_backward(const std::shared_ptr<const Frames>& frames) {
  const std::lock_guard lock(forward_places().mutex);
  auto& of_node = forward_places().of_node;
  if (of_node.size() >= kMostNodes) {
    of_node.clear();
  }
  of_node.try_emplace({at::RecordFunction::currentThreadId(), at::sequence_number::peek() - 1},
                      frames);
}

std::shared_ptr<const Frames> forward_of(uint64_t thread, uint64_t number) {
  const std::lock_guard lock(forward_places().mutex);
  const auto& of_node = forward_places().of_node;
  const auto found = of_node.find({thread, number});
  return found == of_node.end() ? nullptr : found->second;
}

std::string demangled(const char* name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = status == 0 ? plain : name;
  std::free(plain);
  return text;
}

bool is_own(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libtorch") || name.starts_with("libc10") ||
         name.starts_with("libtrain_sim");
}

void add_lines(const Frames& frames, std::vector<std::string>& lines) {
  for (int i = 0; i < frames.count; ++i) {
    Dl_info info{};
    if (dladdr(frames.addresses[i], &info) == 0 || !info.dli_fname || is_own(info.dli_fname)) {
      continue;
    }
    // A return address is behind its call, which addr2line is to name.
    const auto offset = reinterpret_cast<uintptr_t>(frames.addresses[i]) -
                        reinterpret_cast<uintptr_t>(info.dli_fbase) - 1;
    lines.push_back(fmt::format("{}{}(+{:#x})",
                                info.dli_sname ? demangled(info.dli_sname) + " in " : "",
                                info.dli_fname, offset));
  }
}

}  // namespace

void record_places(bool on) { x_on = on; }

std::shared_ptr<const Frames> frames_here() {
  if (!x_on) {
    return nullptr;
  }
  auto frames = std::make_shared<Frames>();
  frames->count = backtrace(frames->addresses.data(), Frames::kMost);
  if (const auto node = torch::autograd::get_current_node()) {
    frames->node = node->name();
    frames->forward = forward_of(node->thread_id(), node->sequence_nr());
  } else {
    keep_for_backward(frames);
  }
  return frames;
}

std::vector<std::string> text_of(const Frames& frames) {
  std::vector<std::string> lines;
  if (!frames.node.empty()) {
    lines.push_back(frames.forward ? "in backward (" + frames.node + ") of"
                                   : "in backward (" + frames.node + ")");
  }
  if (frames.node.empty() || frames.forward) {
    add_lines(frames.node.empty() ? frames : *frames.forward, lines);
  }
  return lines;
}

}  // namespace libtrain::sim
