#include <gtest/gtest.h>

#include <map>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/plan/environment.hpp"
#include "libtrain/plan/explain.hpp"
#include "libtrain/plan/option_table.hpp"

namespace libtrain {
namespace {

using Rows = std::map<std::string, std::vector<std::string>>;

std::string without_backticks(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '`' && cell.back() == '`') {
    cell = cell.substr(1, cell.size() - 2);
  }
  return std::string(cell);
}

/// Rows of the page's tables whose first cell is in backticks, by that cell.
Rows table_rows(const std::string& page) {
  Rows rows;
  const std::string text = read_file(std::string(LIBTRAIN_TEST_DATA) + "/../docs/" + page);
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("| `")) {
      continue;
    }
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line, '|')) {
      cells.push_back(without_backticks(cell));
    }
    cells.erase(cells.begin());
    const std::string key = cells.front();
    EXPECT_TRUE(rows.emplace(key, std::move(cells)).second) << page << " has two rows " << key;
  }
  return rows;
}

TEST(EnvironmentPage, ListsTheVariablesThatAreRead) {
  Rows expected;
  for (const OptionInfo& option : option_table()) {
    if (!option.variable.empty()) {
      expected[std::string(option.variable)] = {std::string(option.variable),
                                                std::string(option.allowed),
                                                std::string(option.meaning), ""};
    }
  }
  for (const OtherVariable& other : other_variables()) {
    expected[std::string(other.name)] = {std::string(other.name), std::string(other.allowed),
                                         std::string(other.meaning), ""};
  }
  EXPECT_EQ(table_rows("environment.md"), expected);
}

TEST(DecisionsPage, ListsTheRowsOfThePlan) {
  std::map<std::string, std::string> variables;
  for (const OptionInfo& option : option_table()) {
    variables[std::string(option.key)] = option.variable;
  }
  std::map<std::string, std::vector<std::string>> expected;
  for (const PlanRow& row : plan_rows({})) {
    expected[row.key] = {row.key, variables[row.key], row.scope};
  }
  Rows documented = table_rows("decisions.md");
  for (auto& [key, cells] : documented) {
    ASSERT_EQ(cells.size(), 6U) << key;
    EXPECT_FALSE(cells[3].empty()) << key << " has no rule";
    cells.resize(3);
  }
  EXPECT_EQ(documented, expected);
}

}  // namespace
}  // namespace libtrain
