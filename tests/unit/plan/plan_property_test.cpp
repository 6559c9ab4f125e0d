#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "libtrain/core/error.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
#include "libtrain/plan/option_table.hpp"
#include "tests/unit/plan/example_machines.hpp"

namespace libtrain {
namespace {

/// A value of `gen`, or nothing once in five times.
template <class T>
std::optional<T> maybe(const rc::Gen<T>& gen) {
  return *rc::gen::inRange(0, 5) > 0 ? std::optional<T>(*gen) : std::nullopt;
}

/// A value of `gen` once in five times.
template <class T>
std::optional<T> rarely(const rc::Gen<T>& gen) {
  return *rc::gen::inRange(0, 5) > 3 ? std::optional<T>(*gen) : std::nullopt;
}

template <class T>
std::optional<T> maybe() {
  return maybe(rc::gen::arbitrary<T>());
}

std::optional<std::string> maybe_one_of(std::vector<std::string> texts) {
  return maybe(
      rc::gen::oneOf(rc::gen::elementOf(std::move(texts)), rc::gen::arbitrary<std::string>()));
}

GpuFacts random_gpu() {
  GpuFacts gpu;
  gpu.cuda_index = maybe(rc::gen::inRange(-1, 4));
  gpu.name = maybe_one_of({"NVIDIA GeForce GTX 1660 Ti", "Tesla T4", "NVIDIA H100 80GB HBM3"});
  if (*rc::gen::arbitrary<bool>()) {
    gpu.compute_capability = ComputeCapability{*rc::gen::inRange(0, 15), *rc::gen::inRange(0, 10)};
  }
  gpu.mig_instance = maybe<bool>();
  gpu.mig_profile = maybe<std::string>();
  gpu.problem = rarely(rc::gen::arbitrary<std::string>());
  return gpu;
}

void give_a_working_gpu(MachineFacts& machine) {
  const MachineFacts working = examples::a100_machine();
  machine.gpu_driver = working.gpu_driver;
  machine.gpus = working.gpus;
  machine.library = working.library;
  machine.launch.local_rank.reset();
  machine.launch.local_world_size.reset();
  const int minor = *rc::gen::inRange(0, 10);
  machine.gpus[0].compute_capability = {*rc::gen::element(7, 8, 9, 10, 12), minor};
  machine.gpus[0].name = maybe_one_of({"NVIDIA GeForce GTX 1660 Ti", "NVIDIA H100 80GB HBM3"});
}

MachineFacts random_machine() {
  MachineFacts machine;
  machine.host.os = maybe_one_of({"linux"});
  machine.host.libc = maybe_one_of({"glibc 2.36", "musl 1.2.4"});
  machine.host.wsl = maybe<bool>();
  machine.cpu.cores = maybe<int>();
  machine.cpu.affinity_cpus = maybe<int>();
  machine.cpu.affinity_cores = maybe<int>();
  machine.cpu.cpuset_cpus = maybe<int>();
  machine.cpu.performance_cores = maybe<int>();
  machine.cpu.quota_cpus = maybe<double>();
  machine.cpu.avx512_bf16 = maybe<bool>();
  machine.cpu.amx_bf16 = maybe<bool>();
  machine.cpu.arm_bf16 = maybe<bool>();
  machine.gpu_driver.driver_version = maybe_one_of({"595.45.04"});
  machine.gpu_driver.driver_cuda_version = maybe_one_of({"12.8", "13.2"});
  machine.gpu_driver.visible_devices = maybe_one_of({"0", "0,1", ""});
  machine.gpu_driver.problem = rarely(rc::gen::arbitrary<std::string>());
  for (int count = *rc::gen::inRange(0, 4); count > 0; --count) {
    machine.gpus.push_back(random_gpu());
  }
  machine.library.torch_version = maybe_one_of({"2.15.0+cu132", "2.15.0+cpu"});
  machine.library.cuda_version = maybe_one_of({"13.2", "12.6"});
  machine.library.cudnn_version = maybe_one_of({"9.26.0.51", "9.10.2"});
  machine.library.cuda_archs = maybe(rc::gen::container<std::vector<std::string>>(
      rc::gen::oneOf(rc::gen::element<std::string>("sm_75", "sm_90a", "compute_80", "9.0+PTX"),
                     rc::gen::arbitrary<std::string>())));
  machine.launch.launcher = maybe<std::string>();
  machine.launch.world_size = maybe<int>();
  machine.launch.local_rank = maybe<int>();
  machine.launch.local_world_size = maybe<int>();
  machine.cpu.affinity_nodes = maybe<std::vector<std::string>>();
  machine.cpu.memory_nodes = maybe<std::vector<std::string>>();
  machine.network.interfaces = maybe<std::vector<std::string>>();
  machine.network.interface_addresses = maybe<std::vector<std::string>>();
  machine.network.infiniband = maybe<std::vector<std::string>>();
  for (const char* name : {"OMP_NUM_THREADS", "PYTORCH_ALLOC_CONF", "NVIDIA_TF32_OVERRIDE"}) {
    if (const std::optional<std::string> text = maybe_one_of({"0", "1", "8"})) {
      machine.launch.variables[name] = *text;
    }
  }
  if (*rc::gen::arbitrary<bool>()) {
    give_a_working_gpu(machine);
  }
  return machine;
}

template <class E, size_t kCount>
std::optional<E> maybe_of(const std::array<E, kCount>& values) {
  return maybe(rc::gen::elementOf(values));
}

PlanOptions random_options() {
  PlanOptions asked;
  asked.device = maybe_one_of({"cpu", "cuda", "cuda:1"});
  asked.precision = maybe_of<PrecisionMode, 4>(
      {PrecisionMode::kFp32, PrecisionMode::kTf32, PrecisionMode::kBf16, PrecisionMode::kFp16});
  asked.fp32_matmul =
      maybe_of<MatmulPrecision, 2>({MatmulPrecision::kIeee, MatmulPrecision::kTf32});
  asked.attention = maybe_of<AttentionKind, 3>(
      {AttentionKind::kShort, AttentionKind::kFlash, AttentionKind::kCudnn});
  asked.threads = maybe<int>();
  asked.global_batch = maybe<int64_t>();
  asked.accumulate = maybe<int64_t>();
  asked.micro_batch = rarely(rc::gen::arbitrary<int64_t>());
  asked.cuda_graph = rarely(rc::gen::arbitrary<bool>());
  asked.parallelism = rarely(rc::gen::element(ParallelForm::kAlone, ParallelForm::kZero2));
  asked.backend = rarely(rc::gen::element(CommBackend::kGloo, CommBackend::kNccl));
  asked.allow_process_settings = *rc::gen::arbitrary<bool>();
  return asked;
}

ModelFacts random_model() {
  ModelFacts model;
  model.has_convolutions = maybe<bool>();
  model.static_shapes = maybe<bool>();
  const auto bytes = rc::gen::inRange<int64_t>(0, int64_t{1} << 40);
  model.parameter_bytes = maybe(bytes);
  model.trainable = maybe(bytes);
  model.activation_bytes = maybe(bytes);
  return model;
}

/// The whole outcome as text: the table, or the message of the error.
std::string outcome(const PlanOptions& asked, const MachineFacts& machine,
                    const ModelFacts& model) {
  try {
    return explain(complete_plan(make_plan(asked, machine), asked, machine, model));
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_a_reason_for_everything(const Plan& plan) {
  for (const PlanRow& row : plan_rows(plan)) {
    RC_ASSERT(row.source.empty() == row.value.starts_with("pending"));
    RC_ASSERT(row.source.empty() == row.reason.empty());
  }
}

RC_GTEST_PROP(PlanProperty, AnyFactsGiveAPlanWhereNothingIsAsked, ()) {
  const MachineFacts machine = random_machine();
  const Plan plan = make_plan({}, machine);
  expect_a_reason_for_everything(plan);
  expect_a_reason_for_everything(complete_plan(plan, {}, machine, random_model()));
  RC_ASSERT(plan.threads.value >= 1);
  RC_CLASSIFY(plan.device.value.type == DeviceType::kCuda, "CUDA");
  RC_ASSERT(plan == make_plan({}, machine));
}

RC_GTEST_PROP(PlanProperty, EqualArgumentsGiveEqualOutcomes, ()) {
  const MachineFacts machine = random_machine();
  const PlanOptions asked = random_options();
  const ModelFacts model = random_model();
  RC_ASSERT(outcome(asked, machine, model) == outcome(asked, machine, model));
}

RC_GTEST_PROP(PlanProperty, RandomVariablesAreReadOrRefused, ()) {
  MachineFacts machine = random_machine();
  for (const char* name : {"FASTTRAIN_DEVICE", "FASTTRAIN_PRECISION", "FASTTRAIN_THREADS"}) {
    if (const std::optional<std::string> text = maybe_one_of({"cpu", "cuda", "bf16", "4"})) {
      machine.launch.variables[name] = *text;
    }
  }
  const std::string first = outcome({}, machine, {});
  RC_ASSERT(first == outcome({}, machine, {}));
  RC_ASSERT(first.starts_with("decision") || first.starts_with("[plan."));
}

std::vector<std::string> keys_and_values(const Plan& plan) {
  std::vector<std::string> out;
  for (const PlanRow& row : plan_rows(plan)) {
    out.push_back(row.key + "=" + row.value);
  }
  return out;
}

/// More memory turns neither checkpointing on nor sharding up, makes no micro-batch smaller, and
/// changes nothing else.
RC_GTEST_PROP(PlanProperty, MoreMemoryTurnsNothingOn, ()) {
  MachineFacts machine = random_machine();
  const auto bytes = [] { return *rc::gen::inRange<int64_t>(0, int64_t{1} << 40); };
  machine.host.memory_bytes = bytes();
  for (GpuFacts& gpu : machine.gpus) {
    gpu.memory_bytes = bytes();
  }
  MachineFacts larger = machine;
  *larger.host.memory_bytes += bytes();
  larger.host.memory_limit_bytes.reset();
  for (GpuFacts& gpu : larger.gpus) {
    *gpu.memory_bytes += bytes();
  }
  const ModelFacts model = random_model();
  const Plan before = complete_plan(make_plan({}, machine), {}, machine, model);
  Plan after = complete_plan(make_plan({}, larger), {}, larger, model);
  RC_ASSERT(before.checkpointing.value || !after.checkpointing.value);
  RC_ASSERT(after.parallelism.value <= before.parallelism.value);
  RC_CLASSIFY(before.checkpointing.value, "checkpointing");
  RC_CLASSIFY(after.parallelism.value < before.parallelism.value, "less is shared out");
  after.checkpointing = before.checkpointing;
  after.parallelism = before.parallelism;
  after.micro_batch = before.micro_batch;
  RC_ASSERT(keys_and_values(before) == keys_and_values(after));
}

/// What moves between two probes: no part of it is in a plan's text.
void move(MachineFacts& machine) {
  machine.host.memory_available_bytes = maybe<int64_t>();
  machine.host.shared_memory_free_bytes = maybe<int64_t>();
  machine.host.folder_free_bytes = maybe<int64_t>();
  for (GpuFacts& gpu : machine.gpus) {
    gpu.performance_state = maybe<int>();
    gpu.clock_mhz = maybe<int>();
    gpu.power_watts = maybe<double>();
    gpu.processes_bytes = maybe<int64_t>();
    gpu.pcie_generation = maybe<int>();
    gpu.pcie_width = maybe<int>();
    gpu.memory_free_bytes = maybe<int64_t>();
    gpu.clock_reasons = maybe<std::vector<std::string>>();
    gpu.ecc_uncorrected = maybe<int64_t>();
    gpu.repair_pending = maybe<bool>();
    gpu.repair_failed = maybe<bool>();
    gpu.temperature_celsius = maybe<int>();
    gpu.xids = maybe<std::vector<std::string>>();
  }
}

RC_GTEST_PROP(PlanProperty, WhatMovesEntersNoPlan, ()) {
  MachineFacts machine = random_machine();
  const PlanOptions asked = random_options();
  const ModelFacts model = random_model();
  const std::string before = outcome(asked, machine, model);
  move(machine);
  RC_ASSERT(outcome(asked, machine, model) == before);
}

std::vector<size_t> any_order(size_t size) {
  std::vector<size_t> order(size);
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = size; i > 1; --i) {
    std::swap(order[i - 1], order[*rc::gen::inRange<size_t>(0, i)]);
  }
  return order;
}

RC_GTEST_PROP(PlanProperty, TheOrderOfDevicesDecidesNothing, ()) {
  MachineFacts machine = random_machine();
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    machine.gpus[i].cuda_index = static_cast<int>(i);  // one each: it is the rank's way to a device
  }
  const std::string before = outcome({}, machine, {});
  MachineFacts other = machine;
  const std::vector<size_t> order = any_order(machine.gpus.size());
  for (size_t i = 0; i < order.size(); ++i) {
    other.gpus[i] = machine.gpus[order[i]];
  }
  RC_ASSERT(outcome({}, other, {}) == before);
}

/// A GPU of a generation that this version has not heard of, with a LibTorch built for it.
MachineFacts machine_of_the_future() {
  MachineFacts machine = random_machine();
  machine.gpus = examples::a100_machine().gpus;
  machine.gpu_driver = examples::a100_machine().gpu_driver;
  machine.gpu_driver.driver_cuda_version = "19.0";
  machine.library = examples::a100_machine().library;
  machine.library.cuda_archs = {{"sm_80", *rc::gen::element("sm_130", "compute_120")}};
  machine.launch.local_rank.reset();
  machine.launch.local_world_size.reset();
  machine.gpus[0].compute_capability = ComputeCapability{13, 0};
  machine.gpus[0].name = "NVIDIA X100";
  return machine;
}

RC_GTEST_PROP(PlanProperty, AnUnknownFutureGpuGetsAWholePlan, ()) {
  const MachineFacts machine = machine_of_the_future();
  const Plan plan = complete_plan(make_plan({}, machine), {}, machine, random_model());
  RC_ASSERT(to_text(plan.device.value) == "cuda:0");
  RC_ASSERT(plan.precision.value == PrecisionMode::kBf16);
  expect_a_reason_for_everything(plan);
  for (const PlanRow& row : plan_rows(plan)) {
    RC_ASSERT(!row.value.starts_with("pending"));
  }
}

/// Asked for by the program, a value is the plan's and is said to be asked for, or it is refused by
/// name; nothing else takes its place.
RC_GTEST_PROP(PlanProperty, AForcedValueWinsOrIsRefusedByName, ()) {
  MachineFacts machine = random_machine();
  const std::vector<std::pair<std::string, std::vector<std::string>>> choices{
      {"precision", {"fp32", "tf32", "bf16", "fp16"}},
      {"fp32_matmul", {"ieee", "tf32"}},
      {"loss_scaling", {"on", "off"}},
      {"attention", {"short", "flash", "cudnn", "efficient", "math"}},
      {"memory_format", {"contiguous", "channels_last"}},
      {"cudnn_benchmark", {"on", "off"}},
      {"threads", {"1", "3"}},
      {"allocator", {"unchanged", "expandable_segments"}},
      {"arch_list", {"none", "8.0;9.0+PTX"}},
      {"nccl_settings", {"unchanged", "by_evidence"}},
      {"checkpointing", {"on", "off"}},
      {"micro_batch", {"1", "64"}},
      {"cuda_graph", {"on", "off"}},
      {"data_workers", {"0", "3"}},
      {"prefetch", {"0", "3"}},
      {"pinned_memory", {"on", "off"}},
      {"numa_node", {"unbound", "1"}},
      {"parallelism", {"alone", "ddp", "zero1", "zero2", "zero3"}},
      {"backend", {"none", "gloo", "nccl"}},
      {"bucket_mib", {"1", "100"}},
  };
  const auto [key, values] = *rc::gen::elementOf(choices);
  const std::string value = *rc::gen::elementOf(values);
  PlanOptions asked;
  set_option(asked, key, value);
  const auto variable = std::ranges::find(option_table(), key, &OptionInfo::key)->variable;
  if (!variable.empty() && *rc::gen::arbitrary<bool>()) {
    machine.launch.variables[std::string(variable)] = *rc::gen::elementOf(values);
  }
  try {
    const Plan plan = complete_plan(make_plan(asked, machine), asked, machine, random_model());
    for (const PlanRow& row : plan_rows(plan)) {
      if (row.key == key) {
        RC_ASSERT(row.value == value);
        RC_ASSERT(row.source == "asked");
        RC_ASSERT(row.reason.starts_with("asked by the program"));
      }
    }
    RC_TAG("granted");
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).find("[plan." + key + "]") == 0);
    RC_TAG("refused");
  }
}

}  // namespace
}  // namespace libtrain
