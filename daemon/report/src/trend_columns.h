// The numbers of a trend that people and programs see.
#pragma once

#include <span>

#include "breakwatch/core/trend.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

struct TrendColumn {
  const char *name, *title;  // of a Column
  Cell (*cell)(const TrendNumbers&);
};
std::span<const TrendColumn> TrendColumns(TrendScope by);

}  // namespace breakwatch::report
