#include "libtrain/facts/redact.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "libtrain/core/text.hpp"
#include "libtrain/facts/fields.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kGone = "[redacted]";
constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kDigits = "0123456789";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == std::string_view::npos;
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// "10.0.0.1", "10.0.0.1:29500".
bool is_ipv4(std::string_view word) {
  const auto parts = split(word.substr(0, word.find(':')), '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
           return all_of(part, kDigits) && part.size() <= 3;
         });
}

/// "fe80::1%eth0", "::ffff:10.0.0.1", "aa:bb:cc:dd:ee:ff"; a PCI bus id, "0000:17:00.0", is none.
bool is_ipv6_or_mac(std::string_view word) {
  word = word.substr(0, word.find('%'));
  if (std::ranges::count(word, ':') < 2) {
    return false;
  }
  const size_t last = word.rfind(':') + 1;
  const std::string_view tail = word.substr(last);
  const auto hex = [](std::string_view part) { return part.empty() || all_of(part, kHex); };
  return std::ranges::all_of(split(word.substr(0, last - 1), ':'), hex) &&
         (hex(tail) || is_ipv4(tail));
}

/// Hexadecimal groups of 8, 4, 4, 4 and 12 digits.
bool is_uuid(std::string_view word) {
  constexpr std::array<size_t, 5> kGroups{8, 4, 4, 4, 12};
  const auto parts = split(word, '-');
  return std::ranges::equal(parts, kGroups, [](std::string_view part, size_t size) {
    return part.size() == size && all_of(part, kHex);
  });
}

/// A word of the text, as it may stay.
std::string redact_word(std::string_view word) {
  for (const std::string_view kind : {"MIG-GPU-", "GPU-", "MIG-"}) {
    if (word.starts_with(kind) && word.size() > kind.size()) {
      return fill("{}{}", kind, kGone);
    }
  }
  constexpr std::string_view kNamedByMac = "enx";  // systemd's name of a USB network card
  if (word.starts_with(kNamedByMac) && all_of(word.substr(kNamedByMac.size()), kHex)) {
    return fill("{}{}", kNamedByMac, kGone);
  }
  return std::string(is_uuid(word) || is_ipv4(word) || is_ipv6_or_mac(word) ? kGone : word);
}

std::string redact_words(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = 0;
    while (length < text.size() &&
           (is_word(text[length]) ||
            std::string_view(":.-%").find(text[length]) != std::string_view::npos)) {
      ++length;
    }
    out += redact_word(text.substr(0, length));
    text.remove_prefix(length);
    if (!text.empty()) {
      out.push_back(text.front());
      text.remove_prefix(1);
    }
  }
  return out;
}

/// Every `host` that is no part of a longer word.
std::string without_host(std::string_view text, std::string_view host) {
  std::string out;
  while (!text.empty()) {
    const bool starts = out.empty() || !is_word(out.back());
    const bool here = starts && equal_but_for_case(text.substr(0, host.size()), host) &&
                      (text.size() == host.size() || !is_word(text[host.size()]));
    out += here ? kGone : text.substr(0, 1);
    text.remove_prefix(here ? host.size() : 1);
  }
  return out;
}

/// Without the characters that `taken` takes, which follow `start` and some of `skipped`.
std::string without_what_follows(std::string text, std::string_view start, std::string_view skipped,
                                 bool (*taken)(char)) {
  for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
    at = std::min(text.find_first_not_of(skipped, at + start.size()), text.size());
    size_t end = at;
    while (end < text.size() && taken(text[end])) {
      ++end;
    }
    if (end > at) {
      text.replace(at, end - at, kGone);
      at += kGone.size();
    }
  }
  return text;
}

}  // namespace

std::string redact_text(std::string_view text, std::span<const std::string> hosts) {
  std::string out(text);
  for (const std::string& host : hosts) {
    if (!host.empty()) {
      out = without_host(out, host);
    }
  }
  out = without_what_follows(std::move(out), "/home/", "",
                             [](char c) { return c != '/' && c != ':' && c != ' '; });
  for (const std::string_view pid : {"pid", "PID"}) {
    out = without_what_follows(std::move(out), pid, " =:'",
                               [](char c) { return c >= '0' && c <= '9'; });
  }
  return redact_words(out);
}

MachineFacts redact(MachineFacts facts, std::span<const std::string> hosts) {
  const auto clean = [&](std::optional<std::string>& text) {
    if (text) {
      text = redact_text(*text, hosts);
    }
  };
  const auto clean_all = [&](std::optional<std::vector<std::string>>& texts) {
    if (texts) {
      for (std::string& text : *texts) {
        text = redact_text(text, hosts);
      }
    }
  };
  for (GpuFacts& gpu : facts.gpus) {
    gpu.uuid.reset();
    clean(gpu.problem);
    for (auto& [fact, why] : gpu.unknown) {
      why = redact_text(why, hosts);
    }
  }
  clean(facts.gpu_driver.visible_devices);
  clean(facts.gpu_driver.problem);
  clean(facts.gpu_driver.cuda_problem);
  clean(facts.launch.problem);
  clean(facts.host.kernel);
  clean_all(facts.network.interfaces);
  clean_all(facts.library.loaded);
  for (auto& [name, value] : facts.launch.variables) {
    const bool address = name == "MASTER_ADDR" || name == "NCCL_COMM_ID";
    value = address ? std::string(kGone) : redact_text(value, hosts);
  }
  return facts;
}

}  // namespace libtrain
