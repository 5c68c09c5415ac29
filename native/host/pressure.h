// Pressure stall information of one resource, as Linux reports it (Documentation/accounting/psi.rst).
#pragma once

namespace hostwire {

struct Pressure {
  double some = 0;  // % of the last 10 s in which at least one task waited
  double full = 0;  // % of the last 10 s in which all non-idle tasks waited
};

}  // namespace hostwire
