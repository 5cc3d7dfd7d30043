// Tables of a comparison that only its documents use.
#pragma once

#include "breakwatch/compare/compare.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// What else differs between the sides, apart from the findings. Fields: what, a, b, models.
Table OtherDifferenceTable(const compare::Comparison& comparison);
// Sums of each side. Fields: of, models, clean, broken, without_numbers, breaks, sites.
Table TotalsTable(const compare::Comparison& comparison);

}  // namespace breakwatch::report
