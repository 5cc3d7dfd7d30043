#include "breakwatch/core/repro.h"

#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "detail_fields.h"

namespace breakwatch {

Result<Repro> ReadRepro(std::string_view text) {
  if (auto checked = CheckJson(text, kMaxMeasuredBytes, kMaxDetailDepth); !checked) return checked.error();
  const json in = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!in.is_object() || !in.contains("repro")) return WrongDetail("repro", "an object");
  const json& found = ObjectOf(in, "repro");
  Repro repro;
  if (found.contains("script") && found["script"].is_string()) {
    repro.script = ToUtf8(found["script"].get_ref<const std::string&>());
  }
  repro.why_not = TextOf(found, "why_not"), repro.differs = TextOf(found, "differs");
  return repro;
}

}  // namespace breakwatch
