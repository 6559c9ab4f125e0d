#include "libtrain/runtime/region.hpp"

namespace libtrain {
namespace {

thread_local std::string_view t_region;

}  // namespace

RegionScope::RegionScope(std::string_view name) : previous_(t_region) { t_region = name; }
RegionScope::~RegionScope() { t_region = previous_; }

std::string_view current_region() { return t_region; }

}  // namespace libtrain
