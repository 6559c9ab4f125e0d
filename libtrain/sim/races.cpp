#include "libtrain/sim/races.hpp"

#include "libtrain/core/text.hpp"
#include "libtrain/sim/ledger.hpp"

namespace libtrain::sim {
namespace {

std::string sentence(const Race& race) {
  const auto& [hazard, earlier, later, times] = race;
  const std::string first = fill("{} on {} ({})", earlier.op, earlier.where, earlier.tensor);
  const std::string second = fill("{} on {} ({})", later.op, later.where, later.tensor);
  switch (hazard) {
    case Hazard::kReadAfterWrite:
      return fill(
          "[sim.race] {} reads what {} writes, and nothing orders them; make the reader wait for "
          "the writer",
          second, first);
    case Hazard::kWriteAfterRead:
      return fill(
          "[sim.race] {} overwrites what {} reads, and nothing orders them; make the writer wait "
          "for the reader",
          second, first);
    case Hazard::kWriteAfterWrite:
      return fill(
          "[sim.race] {} overwrites what {} writes, and nothing orders them; make the later wait "
          "for the earlier",
          second, first);
    case Hazard::kFreedInUse:
      return fill(
          "[sim.race] {} while {} may still use it; call record_stream for that stream before, or "
          "make {} wait for it",
          second, first, later.where);
  }
  return {};
}

void add_frames(const Place& place, std::string& text) {
  if (!place.frames.empty()) {
    text += fill("\n{} on {}:", place.op, place.where);
  }
  for (const std::string& frame : place.frames) {
    text += "\n  " + frame;
  }
}

}  // namespace

std::string Race::text() const {
  std::string text = sentence(*this);
  add_frames(earlier, text);
  add_frames(later, text);
  return text;
}

std::vector<Race> races() { return Ledger::get().races(); }

void clear_races() { Ledger::get().clear_races(); }

}  // namespace libtrain::sim
