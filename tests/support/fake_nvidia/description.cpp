#include "tests/support/fake_nvidia/description.hpp"

#include <unistd.h>
#include <csignal>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace fake_nvidia {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void read_line(std::istringstream& line, const std::string& key, Part& part) {
  std::string rest;
  std::getline(line >> std::ws, rest);
  if (key == "hang") {
    part.hanging.insert(rest);
  } else if (key == "crash") {
    part.crashing.insert(rest);
  } else if (key == "fail") {
    const size_t space = rest.find(' ');
    part.failures[rest.substr(0, space)] = std::stoi(rest.substr(space));
  } else {
    part.values[key] = rest;
  }
}

}  // namespace

std::string Part::text(const std::string& name, const std::string& otherwise) const {
  const auto at = values.find(name);
  return at == values.end() ? otherwise : at->second;
}

long long Part::number(const std::string& name, long long otherwise) const {
  const auto at = values.find(name);
  return at == values.end() ? otherwise : std::stoll(at->second, nullptr, 0);
}

int Part::refusal(const std::string& function) {
  if (crashing.contains(function)) {
    ::kill(::getpid(), SIGKILL);
  }
  while (hanging.contains(function)) {
    ::pause();
  }
  constexpr int kLost = 15;
  if (values.contains("lost_after") && ++calls >= number("lost_after")) {
    return kLost;
  }
  const auto failure = failures.find(function);
  return failure == failures.end() ? 0 : failure->second;
}

Description read_description() {
  Description out;
  Part* part = &out.system;
  std::ifstream in(variable("LIBTRAIN_FAKE_NVIDIA"));
  for (std::string text; std::getline(in, text);) {
    std::istringstream line(text.substr(0, text.find('#')));
    std::string key;
    if (!(line >> key)) {
      continue;
    }
    if (key == "gpu") {
      part = &out.gpus.emplace_back();
    } else if (key == "cuda_device") {
      part = &out.cuda_devices.emplace_back();
    } else if (key == "mig") {
      part = &out.gpus.back().instances.emplace_back();
    } else {
      read_line(line, key, *part);
    }
  }
  return out;
}

void log_call(const char* function) {
  const std::string log = variable("LIBTRAIN_FAKE_NVIDIA_LOG");
  if (!log.empty()) {
    std::ofstream(log, std::ios::app) << function << ' ' << ::getpid() << '\n';
  }
}

int copy_text(const std::string& text, char* buffer, size_t size) {
  if (text.size() >= size) {
    return 7;
  }
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace fake_nvidia
