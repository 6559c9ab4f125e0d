#include "libtrain/probe/cpuid.hpp"

namespace libtrain {
namespace {

constexpr bool bit(uint64_t value, unsigned index) { return ((value >> index) & 1U) != 0; }
constexpr bool bits(uint64_t value, unsigned first, unsigned last) {
  for (unsigned index = first; index <= last; ++index) {
    if (!bit(value, index)) {
      return false;
    }
  }
  return true;
}

}  // namespace

// Bit numbers: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A (CPUID) and
// volume 1, 13.3 (XCR0).
X86Features x86_features(const Sources& sources) {
  const CpuidRegisters basic = sources.cpuid(1, 0).value_or(CpuidRegisters{});
  const CpuidRegisters extended = sources.cpuid(7, 0).value_or(CpuidRegisters{});
  const CpuidRegisters more = extended.eax >= 1
                                  ? sources.cpuid(7, 1).value_or(CpuidRegisters{})
                                  : CpuidRegisters{};  // EAX holds the highest subleaf
  const uint64_t saved = sources.xcr0();
  const bool saves_avx = bits(saved, 1, 2);
  const bool saves_avx512 = saves_avx && bits(saved, 5, 7);
  const bool saves_tiles = bits(saved, 17, 18);

  X86Features out;
  out.avx2 = saves_avx && bit(basic.ecx, 12) && bit(extended.ebx, 5);
  out.avx512 = saves_avx512 && bit(extended.ebx, 16) && bit(extended.ebx, 17) &&
               bit(extended.ebx, 30) && bit(extended.ebx, 31);
  out.avx512_bf16 = out.avx512 && bit(more.eax, 5);
  out.amx_bf16 = saves_tiles && bit(extended.edx, 22) && bit(extended.edx, 24);
  out.amx_int8 = saves_tiles && bit(extended.edx, 24) && bit(extended.edx, 25);
  out.amx_fp16 = saves_tiles && bit(extended.edx, 24) && bit(more.eax, 21);
  out.hybrid = bit(extended.edx, 15);
  return out;
}

}  // namespace libtrain
