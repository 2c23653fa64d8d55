// SPDX-License-Identifier: Apache-2.0
// One table of parameters: defaults inside their ranges, and the document says the same.
#include "cc/params.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Row {
  std::string name;
  __u32 value, min, max;
};

const std::vector<Row> kRows = {
#define CC_PARAM(name, value, min, max) {#name, value, min, max},
#include "cc/params.def"
#undef CC_PARAM
};

// Cells of "| `name` | unit | default | min..max | effect |".
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  std::string cell;
  std::getline(in, cell, '|');
  while (std::getline(in, cell, '|')) {
    std::string trimmed;
    for (char c : cell)
      if (!std::isspace(static_cast<unsigned char>(c)) && c != '`') trimmed += c;
    out.push_back(trimmed);
  }
  return out;
}

TEST(Params, DefaultsAreLegal) {
  for (const Row& row : kRows) {
    EXPECT_LE(row.min, row.value) << row.name;
    EXPECT_LE(row.value, row.max) << row.name;
  }
  EXPECT_EQ(sizeof(cc_params), kRows.size() * 4);
}

TEST(Params, DocumentListsEveryParameterWithItsDefaultAndRange) {
  std::ifstream document(SOURCE_ROOT "/docs/senders.md");
  ASSERT_TRUE(document) << "docs/senders.md";
  std::map<std::string, std::vector<std::string>> documented;
  for (std::string line; std::getline(document, line);)
    if (line.rfind("| `", 0) == 0 && cells(line).size() == 5) documented[cells(line)[0]] = cells(line);
  for (const Row& row : kRows) {
    ASSERT_TRUE(documented.count(row.name)) << row.name;
    EXPECT_EQ(documented[row.name][2], std::to_string(row.value)) << row.name;
    EXPECT_EQ(documented[row.name][3], std::to_string(row.min) + ".." + std::to_string(row.max)) << row.name;
  }
  EXPECT_EQ(documented.size(), kRows.size());
}

}  // namespace
