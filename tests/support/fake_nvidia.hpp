#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/fake_sources.hpp"

namespace libtrain {

/// A GPU or a MIG instance as NVML would tell of it.
struct FakeNvmlDevice {
  std::string uuid;
  std::string name;
  std::string bus_id;
  int major = 8;
  int minor = 0;
  unsigned cores = 6912;
  unsigned long long memory = 40ULL << 30U;
  bool mig_mode = false;
  std::vector<FakeNvmlDevice> instances;
  unsigned gpu_instance = 0;  ///< MIG instances only, as the two below
  unsigned compute_instance = 0;
  unsigned multiprocessors = 0;
  int links = 12;
  int links_up = 12;
  unsigned performance_state = 0;
  unsigned generation = 4;
  unsigned width = 16;
  std::vector<std::string> peers = {};  ///< UUIDs
  unsigned char fabric = 3;
  int compute_mode = 0;
  int persistence = 1;
  unsigned power_limit = 400000;  ///< milliwatts; the default is 400000
  unsigned long long clock_reasons = 1;
  unsigned long long ecc_errors = 0;
  unsigned repair_pending = 0;
  unsigned repair_failed = 0;
  std::map<std::string, int> failures;  ///< function → error code
};

struct FakeNvml {
  std::map<std::string, int> failures = {};  ///< of the functions that take no device
  std::string driver_version = "580.105.08";
  int cuda_version = 13000;
  std::vector<FakeNvmlDevice> devices = {};
  int started = 0;
  int stopped = 0;
};

struct FakeCudaDevice {
  std::string name;
  std::string bus_id;
  unsigned char uuid_byte = 0;  ///< repeated sixteen times
  int major = 8;
  int minor = 0;
};

struct FakeCuda {
  int version = 13000;
  int init_result = 0;
  bool init_hangs = false;
  std::vector<FakeCudaDevice> devices = {};
  int init_calls = 0;  ///< in this process: a child counts its own copy
};

/// Libraries that answer from `state`, which must outlive them. One of each kind at a time.
std::shared_ptr<FakeLibrary> fake_nvml_library(FakeNvml& state);
std::shared_ptr<FakeLibrary> fake_cuda_library(FakeCuda& state);

}  // namespace libtrain
