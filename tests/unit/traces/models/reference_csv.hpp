// Reader of tables of foreign reference numbers: tests/data/NAME, a header row and cells without quotes.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace replay::test {

/// The rows below the header row. Fails the test if there are none.
inline std::vector<std::vector<std::string>> reference_rows(const std::string& name) {
  std::ifstream file(std::string(REPLAY_SOURCE_DIR) + "/tests/data/" + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    auto& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  EXPECT_FALSE(rows.empty()) << name;
  return rows;
}

}  // namespace replay::test
