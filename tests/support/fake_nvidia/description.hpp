#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace fake_nvidia {

/// Part of a machine as the fake driver libraries tell of it: the system, a GPU or a MIG instance
/// (NVML), or a device (CUDA).
struct Part {
  std::map<std::string, std::string> values;
  std::map<std::string, int> failures;  ///< function → what it returns
  std::set<std::string> hanging;        ///< functions that never return
  std::set<std::string> crashing;       ///< functions that end the process
  std::vector<Part> instances;          ///< of a GPU
  int calls = 0;

  std::string text(const std::string& name, const std::string& otherwise = "") const;
  long long number(const std::string& name, long long otherwise = 0) const;
  /// What a call of `function` returns before it answers, 0 for nothing; may not return at all.
  /// `lost_after N`: from the Nth call on every function returns 15, "GPU is lost".
  int refusal(const std::string& function);
};

struct Description {
  Part system;
  std::vector<Part> gpus;
  std::vector<Part> cuda_devices;
};

/// Reads the file that the variable LIBTRAIN_FAKE_NVIDIA names: a word a line, `gpu`, `mig` or
/// `cuda_device`, starts such a part, `fail FUNCTION CODE`, `hang FUNCTION` and `crash FUNCTION`
/// break the part above, any other line is `name value`. A # starts a comment.
Description read_description();

/// Appends the function and the process that called it to the file that LIBTRAIN_FAKE_NVIDIA_LOG
/// names, if it is set.
void log_call(const char* function);

/// Copies the text with its end; NVML's NVML_ERROR_INSUFFICIENT_SIZE (7) if it does not fit.
int copy_text(const std::string& text, char* buffer, size_t size);

}  // namespace fake_nvidia
