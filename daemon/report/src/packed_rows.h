// PackedRows: the rows of a table in little memory, for one of as many rows as the Hub has models.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "breakwatch/report/table.h"

namespace breakwatch::report {

// A row is one text: a fifth of its cells.
class PackedRows {
 public:
  void Add(const std::vector<Cell>& row);
  std::size_t size() const { return rows_.size(); }
  std::vector<Cell> At(std::size_t place) const;
  std::vector<std::vector<Cell>> All() const;

 private:
  std::vector<std::string> rows_;  // for each cell the index of its type, and its value
};

}  // namespace breakwatch::report
