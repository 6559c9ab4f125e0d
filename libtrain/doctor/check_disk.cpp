#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"
#include "libtrain/plan/model_presets.hpp"

namespace libtrain {
namespace {

/// Bytes a parameter takes in a checkpoint: fp32 weight and AdamW's two moments.
constexpr int64_t kBytesPerParameter = 12;

/// Measured against what a model of modest size needs: BERT base, 109 million parameters.
Outcome check_space(const Examined& seen) {
  const auto& free = seen.machine.host.folder_free_bytes;
  if (!free) {
    return skip("the free space is unknown");
  }
  const int64_t checkpoint = *model_preset("bert-base")->parameters * kBytesPerParameter;
  const std::string found =
      fill("{} free in the working folder, a checkpoint of BERT base takes {}", format_bytes(*free),
           format_bytes(checkpoint));
  const std::string mend = "free space, or keep checkpoints on another file system";
  if (*free < 2 * checkpoint) {
    // The new one is written beside the old one.
    return fail(found, "a checkpoint cannot replace the one before it: saving ends with an error",
                mend);
  }
  return *free < 10 * checkpoint ? warn_of(found, "few checkpoints fit", mend) : pass(found);
}

Outcome check_writable(const Examined& seen) {
  const auto& writable = seen.machine.host.folder_writable;
  if (!writable) {
    return skip("not known");
  }
  return *writable ? pass("the working folder is writable")
                   : warn_of("the working folder is not writable",
                             "checkpoints and logs with relative paths cannot be written",
                             "start from another folder, or give absolute paths");
}

constexpr std::array kChecks{
    Check{"disk.space", "do checkpoints fit on the disk", check_space},
    Check{"disk.writable", "can checkpoints be written", check_writable},
};

}  // namespace

std::span<const Check> disk_checks() { return kChecks; }

}  // namespace libtrain
