#include "libtrain/format/json.hpp"

#include <utility>
#include <vector>

#include "libtrain/format/json_events.hpp"

namespace libtrain::format {
namespace {

/// Appends where nlohmann's own builder looks every key up first, which takes quadratic time.
// NOLINTNEXTLINE(bugprone-exception-escape): out of memory in the destructor of nlohmann's tree
class TreeBuilder final : public JsonEvents {
 public:
  void begin_object(int64_t /*offset*/) override { open_.push_back(add(Json::object())); }
  void begin_array(int64_t /*offset*/) override { open_.push_back(add(Json::array())); }
  void key(std::string text, int64_t /*offset*/) override { key_ = std::move(text); }
  void scalar(Json value, int64_t /*offset*/) override { add(std::move(value)); }
  void end() override { open_.pop_back(); }

  Json take() { return std::move(root_); }

 private:
  Json* add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::move(value));
    }
    auto& fields = open_.back()->get_ref<Json::object_t&>();
    return &fields.emplace_back(std::move(key_), std::move(value)).second;
  }

  Json root_;
  std::string key_;
  std::vector<Json*> open_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  TreeBuilder tree;
  parse_json_events(text, name, 0, tree);
  return tree.take();
}

}  // namespace libtrain::format
