#include "libtrain/probe/address_class.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace libtrain {
namespace {

constexpr std::array<std::string_view, 5> kClasses{"none", "link-local", "ipv6", "private",
                                                   "public"};
enum Class : uint8_t { kNone, kLinkLocal, kIpv6, kPrivate, kPublic };

struct Block {
  uint32_t first;
  int bits;
  Class kind;
};

constexpr std::array<Block, 7> kBlocks{{{0x00000000, 8, kNone},        // 0.0.0.0/8
                                        {0x7F000000, 8, kNone},        // 127.0.0.0/8
                                        {0xA9FE0000, 16, kLinkLocal},  // 169.254.0.0/16
                                        {0x0A000000, 8, kPrivate},     // 10.0.0.0/8
                                        {0xAC100000, 12, kPrivate},    // 172.16.0.0/12
                                        {0xC0A80000, 16, kPrivate},    // 192.168.0.0/16
                                        {0x64400000, 10, kPrivate}}};  // 100.64.0.0/10

Class class_of(const std::string& address) {
  in_addr ipv4{};
  in6_addr ipv6{};
  if (::inet_pton(AF_INET, address.c_str(), &ipv4) == 1) {
    const uint32_t number = ntohl(ipv4.s_addr);
    const auto* const block = std::ranges::find_if(kBlocks, [&](const Block& candidate) {
      return ((number ^ candidate.first) >> (32 - candidate.bits)) == 0;
    });
    return block == kBlocks.end() ? kPublic : block->kind;
  }
  if (::inet_pton(AF_INET6, address.c_str(), &ipv6) != 1 || IN6_IS_ADDR_LOOPBACK(&ipv6)) {
    return kNone;
  }
  return IN6_IS_ADDR_LINKLOCAL(&ipv6) ? kLinkLocal : kIpv6;
}

}  // namespace

std::string address_class(std::span<const std::string> addresses) {
  Class widest = kNone;
  for (const std::string& address : addresses) {
    widest = std::max(widest, class_of(address));
  }
  return std::string(kClasses[widest]);
}

}  // namespace libtrain
