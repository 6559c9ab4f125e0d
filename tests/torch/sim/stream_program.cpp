#include "stream_program.hpp"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <array>
#include <optional>

#include "libtrain/core/text.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim::test {
namespace {

constexpr std::array<at::ScalarType, kTensors> kDtypes{at::kFloat, at::kDouble, at::kInt,
                                                       at::kLong,  at::kShort,  at::kHalf};
constexpr int64_t kElements = 12;

/// What happens, and what directly before it: a path is "happens before".
class Graph {
 public:
  using Past = std::vector<bool>;  // by node

  /// All that comes before what comes directly after these.
  Past after(const std::vector<std::optional<size_t>>& nodes) const {
    Past past(pasts_.size(), false);
    for (const auto& node : nodes) {
      if (node) {
        past[*node] = true;
        for (size_t i = 0; i < *node; ++i) {
          past[i] = past[i] || pasts_[*node][i];
        }
      }
    }
    return past;
  }
  size_t add(const std::vector<std::optional<size_t>>& before) {
    pasts_.push_back(after(before));
    return pasts_.size() - 1;
  }

 private:
  std::vector<Past> pasts_;
};

struct Access {
  size_t node;
  int lane;
  bool write;
  std::string place;
};

struct Memory {
  int home = 0;
  std::vector<Access> accesses;
  std::vector<int> recorded;
};

/// Follows a program step by step; tells what each step would race with.
class Model {
 public:
  Model() : last_(kStreams + 1), memory_(kTensors) {
    for (int tensor = 0; tensor < kTensors; ++tensor) {
      if (tensor < kPinned) {
        allocate(tensor, 0);
      }
    }
    const size_t synchronized = graph_.add({last(0)});
    last(kHost) = synchronized;
  }

  std::vector<Access> conflicts(const Step& step) {
    std::vector<Access> found;
    if (step.kind == Step::kUse) {
      const Graph::Past past = graph_.after({last(step.lane), last(kHost)});
      for (const auto& [tensor, write] : uses_of(step)) {
        for (const Access& before : memory_[tensor].accesses) {
          if ((before.write || write) && !past[before.node]) {
            found.push_back(before);
          }
        }
      }
    } else if (step.kind == Step::kReplace) {
      const Memory& memory = memory_[step.to];
      // What the next owner comes after: recorded streams are waited for as far as they have come.
      std::vector<std::optional<size_t>> awaited{last(memory.home), last(kHost)};
      for (const int lane : memory.recorded) {
        awaited.push_back(last(lane));
      }
      const Graph::Past past = graph_.after(awaited);
      for (const Access& before : memory.accesses) {
        if (!past[before.node]) {
          found.push_back(before);
        }
      }
    }
    return found;
  }

  void take(const Step& step) {
    switch (step.kind) {
      case Step::kUse: {
        const size_t node = enter(step.lane);
        for (const auto& [tensor, write] : uses_of(step)) {
          memory_[tensor].accesses.push_back({node, step.lane, write, place(step, tensor)});
        }
        break;
      }
      case Step::kWait: {
        const size_t recorded = enter(step.from);
        last(step.lane) = graph_.add({last(step.lane), recorded});
        break;
      }
      case Step::kSynchronize:
        last(kHost) = graph_.add({last(kHost), last(step.from)});
        break;
      case Step::kRecordStream:
        memory_[step.to].recorded.push_back(step.lane);
        break;
      case Step::kReplace:
        allocate(step.to, step.lane);
        break;
    }
  }

  int home(int tensor) const { return memory_[tensor].home; }
  std::string place(const Step& step, int tensor) const {
    const char* op = step.is_fill ? "fill_" : step.from < 0 ? "neg_" : "copy_";
    return libtrain::fill("{} {} {}", step.lane, op, tensor);
  }
  static std::vector<std::pair<int, bool>> uses_of(const Step& step) {
    std::vector<std::pair<int, bool>> uses{{step.to, true}};
    if (step.from >= 0) {
      uses.insert(uses.begin(), {step.from, false});
    }
    return uses;
  }

 private:
  std::optional<size_t>& last(int lane) { return last_[lane + 1]; }
  size_t enter(int lane) { return *(last(lane) = graph_.add({last(lane), last(kHost)})); }
  void allocate(int tensor, int lane) {
    memory_[tensor] = {lane, {}, {}};
    memory_[tensor].accesses.push_back(
        {enter(lane), lane, true, libtrain::fill("{} allocation {}", lane, tensor)});
  }

  Graph graph_;
  std::vector<std::optional<size_t>> last_;
  std::vector<Memory> memory_;
};

int pick(std::mt19937_64& random, int count) {
  return static_cast<int>(random() % static_cast<uint64_t>(count));
}

Step random_step(std::mt19937_64& random) {
  const int kind = pick(random, 20);
  const int lane = pick(random, kStreams);
  if (kind == 0) {
    return {Step::kWait, lane, (lane + 1 + pick(random, kStreams - 1)) % kStreams};
  }
  if (kind == 1) {
    return {Step::kSynchronize, kHost, lane};
  }
  if (kind <= 3) {
    return {Step::kReplace, lane, -1, pick(random, kPinned)};
  }
  if (kind <= 6) {  // the host fills or negates a pinned buffer
    return {Step::kUse, kHost, -1, kPinned + pick(random, kTensors - kPinned),
            pick(random, 2) == 0};
  }
  if (kind <= 11) {
    return {Step::kUse, lane, -1, pick(random, kPinned), pick(random, 2) == 0};
  }
  const int from = pick(random, kTensors);
  // Copies from one pinned buffer to another would be the host's.
  const int to =
      from < kPinned ? (from + 1 + pick(random, kTensors - 1)) % kTensors : pick(random, kPinned);
  return {Step::kUse, lane, from, to};
}

/// What puts `before` in order with `step`.
Step remedy(std::mt19937_64& random, const Step& step, const Access& before, int home) {
  if (step.kind == Step::kReplace && pick(random, 3) > 0) {
    return {Step::kRecordStream, before.lane, -1, step.to};
  }
  const int waiting = step.kind == Step::kReplace ? home : step.lane;
  if (waiting == kHost || pick(random, 4) == 0) {
    return {Step::kSynchronize, kHost, before.lane};
  }
  return {Step::kWait, waiting, before.lane};
}

void take_on_device(const Step& step, std::vector<at::Tensor>& tensors,
                    const std::vector<c10::Stream>& streams) {
  switch (step.kind) {
    case Step::kUse: {
      std::optional<c10::StreamGuard> guard;
      if (step.lane != kHost) {
        guard.emplace(streams[step.lane]);
      }
      if (step.from >= 0) {
        tensors[step.to].copy_(tensors[step.from], /*non_blocking=*/true);
      } else if (step.is_fill) {
        tensors[step.to].fill_(1);
      } else {
        tensors[step.to].neg_();
      }
      break;
    }
    case Step::kWait:
      wait(streams[step.lane], streams[step.from]);
      break;
    case Step::kSynchronize:
      synchronize(streams[step.from]);
      break;
    case Step::kRecordStream:
      tensors[step.to].record_stream(streams[step.lane]);
      break;
    case Step::kReplace: {
      tensors[step.to].reset();
      const c10::StreamGuard guard(streams[step.lane]);
      tensors[step.to] =
          at::empty({kElements}, at::TensorOptions(device()).dtype(kDtypes[step.to]));
      break;
    }
  }
}

/// A reported place in the model's words.
std::string model_place(const Place& place, int tensor, const std::vector<c10::Stream>& streams) {
  int lane = kHost;
  for (int i = 0; i < kStreams; ++i) {
    if (place.where == name(streams[i])) {
      lane = i;
    }
  }
  const std::string op = place.op.substr(place.op.rfind(':') + 1);
  return libtrain::fill("{} {} {}", lane, op, tensor);
}

/// By its dtype; an allocation, which has none, is of the tensor that the other place names.
int tensor_of(const Race& race) {
  for (const Place* place : {&race.earlier, &race.later}) {
    for (int tensor = 0; tensor < kTensors; ++tensor) {
      if (place->tensor == std::string(c10::toString(kDtypes[tensor])) + " [12]") {
        return tensor;
      }
    }
  }
  return -1;
}

}  // namespace

std::vector<RacyStep> brute_force_races(const StreamProgram& program) {
  std::vector<RacyStep> racy;
  Model model;
  for (size_t i = 0; i < program.size(); ++i) {
    const Step& step = program[i];
    for (const auto& [tensor, write] : Model::uses_of(step)) {
      RacyStep found{i, tensor, {}};
      const std::string ending = libtrain::fill(" {}", tensor);
      for (const Access& before : model.conflicts(step)) {
        if (before.place.ends_with(ending)) {
          const std::string later = step.kind == Step::kReplace
                                        ? libtrain::fill("{} free{}", model.home(tensor), ending)
                                        : model.place(step, tensor);
          found.races.push_back({before.place, later});
        }
      }
      if (!found.races.empty()) {
        racy.push_back(found);
      }
    }
    model.take(step);
  }
  return racy;
}

StreamProgram correct_program(std::mt19937_64& random, int steps) {
  StreamProgram program;
  Model model;
  for (int i = 0; i < steps; ++i) {
    const Step step = random_step(random);
    for (auto conflicts = model.conflicts(step); !conflicts.empty();
         conflicts = model.conflicts(step)) {
      const Step order =
          remedy(random, step, conflicts[pick(random, static_cast<int>(conflicts.size()))],
                 step.kind == Step::kReplace ? model.home(step.to) : kHost);
      model.take(order);
      program.push_back(order);
    }
    model.take(step);
    program.push_back(step);
  }
  return program;
}

std::vector<FoundRace> run(const StreamProgram& program, const std::vector<c10::Stream>& streams) {
  std::vector<at::Tensor> tensors;
  {
    const c10::StreamGuard guard(streams[0]);
    for (int i = 0; i < kTensors; ++i) {
      const at::TensorOptions options =
          i < kPinned ? at::TensorOptions(device()) : at::TensorOptions().pinned_memory(true);
      tensors.push_back(at::empty({kElements}, options.dtype(kDtypes[i])));
    }
  }
  start_afresh();
  for (const Step& step : program) {
    take_on_device(step, tensors, streams);
  }
  std::vector<FoundRace> found;
  for (const Race& race : races()) {
    const int tensor = tensor_of(race);
    found.push_back(
        {model_place(race.earlier, tensor, streams), model_place(race.later, tensor, streams)});
  }
  start_afresh();
  return found;
}

}  // namespace libtrain::sim::test
