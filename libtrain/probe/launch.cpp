#include "libtrain/probe/launch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

using Environment = std::map<std::string, std::string>;

/// The variables by which one launcher tells a process its place.
struct Launcher {
  const char* name;
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_world_size;  ///< null where it is told in another form
};

constexpr Launcher kTorchrun = {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"};
constexpr Launcher kOpenMpi = {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                               "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
// MPICH and Intel MPI.
constexpr Launcher kPmi = {"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
// The step's size, which srun alone sets: a batch script has SLURM_PROCID=0 and SLURM_NTASKS=8 too,
// and is one process.
constexpr Launcher kSlurm = {"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID",
                             nullptr};

std::optional<std::string> find(const Environment& environment, const std::string& name) {
  const auto at = environment.find(name);
  return at == environment.end() ? std::nullopt : std::optional(at->second);
}

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  std::optional<int> count(const char* name, int least) {
    const std::optional<std::string> text = find(environment_, name);
    if (!text) {
      return std::nullopt;
    }
    const std::optional<int64_t> value = parse_integer(*text);
    if (!value || *value < least || *value > std::numeric_limits<int>::max()) {
      problem(fill("{}={}, expected an integer of at least {}", name, quote(*text), least));
      return std::nullopt;
    }
    return static_cast<int>(*value);
  }

  void problem(std::string text) { problems_.push_back(std::move(text)); }
  std::optional<std::string> problems() const {
    return problems_.empty() ? std::nullopt : std::optional(join(problems_, "; "));
  }

 private:
  const Environment& environment_;
  std::vector<std::string> problems_;
};

/// SLURM_STEP_TASKS_PER_NODE, "4(x2),3": tasks on each node in turn.
std::optional<int> tasks_of_node(std::string_view text, int64_t node) {
  for (const std::string_view part : split(text, ',')) {
    const size_t open = part.find("(x");
    const std::optional<int64_t> tasks = parse_integer(part.substr(0, open));
    std::optional<int64_t> nodes = 1;
    if (open != std::string_view::npos) {
      nodes = part.ends_with(')') ? parse_integer(part.substr(open + 2, part.size() - open - 3))
                                  : std::nullopt;
    }
    if (!tasks || !nodes || *tasks < 1 || *tasks > std::numeric_limits<int>::max() || *nodes < 1) {
      return std::nullopt;
    }
    if (node < *nodes) {
      return static_cast<int>(*tasks);
    }
    node -= *nodes;
  }
  return std::nullopt;
}

std::optional<int> slurm_local_world_size(const Environment& environment, Reader& reader) {
  const std::optional<std::string> tasks = find(environment, "SLURM_STEP_TASKS_PER_NODE");
  const std::optional<int> node = reader.count("SLURM_NODEID", 0);
  return tasks && node ? tasks_of_node(*tasks, *node) : std::nullopt;
}

void read_place(LaunchFacts& out, const Launcher& launcher, const Environment& environment,
                Reader& reader) {
  out.launcher = launcher.name;
  out.rank = reader.count(launcher.rank, 0);
  out.world_size = reader.count(launcher.world_size, 1);
  out.local_rank = reader.count(launcher.local_rank, 0);
  out.local_world_size = launcher.local_world_size != nullptr
                             ? reader.count(launcher.local_world_size, 1)
                             : slurm_local_world_size(environment, reader);
}

void require_below(Reader& reader, const char* low_name, std::optional<int> low,
                   const char* high_name, std::optional<int> high) {
  if (low && high && *low >= *high) {
    reader.problem(fill("{}={} with {}={}, expected a smaller {}", low_name, *low, high_name, *high,
                        low_name));
  }
}

void check_place(const LaunchFacts& facts, const Launcher& launcher, Reader& reader) {
  const char* local_size = launcher.local_world_size != nullptr ? launcher.local_world_size
                                                                : "SLURM_STEP_TASKS_PER_NODE";
  require_below(reader, launcher.rank, facts.rank, launcher.world_size, facts.world_size);
  require_below(reader, launcher.local_rank, facts.local_rank, local_size, facts.local_world_size);
  if (facts.rank && facts.local_rank && *facts.local_rank > *facts.rank) {
    reader.problem(fill("{}={} with {}={}, expected no more than the rank", launcher.local_rank,
                        *facts.local_rank, launcher.rank, *facts.rank));
  }
  if (facts.local_world_size && facts.world_size && *facts.local_world_size > *facts.world_size) {
    reader.problem(fill("{}={} with {}={}, expected no more than all processes", local_size,
                        *facts.local_world_size, launcher.world_size, *facts.world_size));
  }
}

/// RANK set by hand inside another launcher's step of the same size must agree with it. Steps of
/// other sizes start launchers, not ranks. torchrun numbers its processes itself.
void check_agreement(const LaunchFacts& facts, const Launcher& outer, Reader& reader) {
  const std::optional<int> rank = reader.count(outer.rank, 0);
  const std::optional<int> size = reader.count(outer.world_size, 1);
  if (rank && size && facts.rank && size == facts.world_size && rank != facts.rank) {
    reader.problem(
        fill("RANK={} with {}={}, expected the same rank", *facts.rank, outer.rank, *rank));
  }
}

bool steers_training(std::string_view name) {
  constexpr std::array<std::string_view, 17> kPrefixes = {
      "FASTTRAIN_", "CUDA_",  "CUDNN_",   "CUBLAS_", "NVIDIA_", "NCCL_",
      "GLOO_",      "TORCH_", "PYTORCH_", "ATEN_",   "OMP_",    "GOMP_",
      "MKL_",       "KMP_",   "ONEDNN_",  "DNNL_",   "MALLOC_"};
  constexpr std::array<std::string_view, 4> kNames = {"LD_PRELOAD", "LD_LIBRARY_PATH",
                                                      "MASTER_ADDR", "MASTER_PORT"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

LaunchFacts launch_from_environment(const Environment& environment) {
  LaunchFacts out;
  Reader reader(environment);
  const bool by_rank = environment.contains("RANK") || environment.contains("LOCAL_RANK");
  const bool openmpi = environment.contains(kOpenMpi.rank);
  // srun can set PMI_RANK too; the local rank is the launcher's own.
  const bool pmi = environment.contains(kPmi.rank) && environment.contains(kPmi.local_rank);
  const bool slurm = environment.contains(kSlurm.world_size);
  if (by_rank || openmpi || pmi || slurm) {
    const Launcher& outer = openmpi ? kOpenMpi : pmi ? kPmi : kSlurm;
    const Launcher& launcher = by_rank ? kTorchrun : outer;
    read_place(out, launcher, environment, reader);
    check_place(out, launcher, reader);
    if (!out.rank != !out.world_size && !reader.problems()) {
      reader.problem(
          fill("one of {} and {} is not set, expected both", launcher.rank, launcher.world_size));
    }
    if (by_rank && !environment.contains("TORCHELASTIC_RUN_ID") && (openmpi || pmi || slurm)) {
      check_agreement(out, outer, reader);
    }
  }
  for (const auto& [name, value] : environment) {
    if (steers_training(name)) {
      out.variables.emplace(name, value);
    }
  }
  out.problem = reader.problems();
  return out;
}

}  // namespace libtrain
