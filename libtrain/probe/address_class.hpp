#pragma once

#include <span>
#include <string>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The widest reach that an interface's addresses give it, each in text form: "public" and
/// "private" (IPv4; RFC 1918 and, behind a provider's NAT, RFC 6598), "ipv6" (without IPv4),
/// "link-local" (RFC 3927, RFC 4291), or "none".
LT_API std::string address_class(std::span<const std::string> addresses);

}  // namespace libtrain
