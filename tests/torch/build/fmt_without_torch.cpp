#include <fmt/core.h>

int fmt_version_without_torch() { return FMT_VERSION; }
