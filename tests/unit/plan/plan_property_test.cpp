#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "libtrain/core/error.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/make_plan.hpp"
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
  asked.allow_process_settings = *rc::gen::arbitrary<bool>();
  return asked;
}

ModelFacts random_model() {
  ModelFacts model;
  model.has_convolutions = maybe<bool>();
  model.static_shapes = maybe<bool>();
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

}  // namespace
}  // namespace libtrain
