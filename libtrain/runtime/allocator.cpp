#include "libtrain/runtime/allocator.hpp"

#include <c10/core/AllocatorConfig.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <climits>

namespace libtrain {

void apply_allocator(AllocatorSetting setting) {
  switch (setting) {
    case AllocatorSetting::kUnchanged:
      return;
    case AllocatorSetting::kGlibcThresholds:
#ifdef __GLIBC__
      ::mallopt(M_MMAP_THRESHOLD, INT_MAX);
      ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
      return;
    case AllocatorSetting::kExpandableSegments:
      c10::CachingAllocator::setAllocatorSettings("expandable_segments:True");
      return;
  }
}

}  // namespace libtrain
