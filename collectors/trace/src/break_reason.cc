#include "break_reason.h"

#include <algorithm>
#include <array>
#include <utility>

#include "break_message.h"
#include "break_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::trace {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kWhileHandling = "*** While handling this graph break, another graph break occurred: ***";

// --- exceptions without a type

// The only reasons that such exceptions can have.
struct NamedReason {
  std::string_view cls, reason;
};
constexpr std::array<NamedReason, 8> kReasons = {{
    {"UserError", "User error"},
    {"StepUnsupported", "Step unsupported"},
    {"Unsupported", "Unsupported, no type given"},
    {"TorchRuntimeError", "Torch runtime error"},
    {"InternalTorchDynamoError", "Internal Dynamo error"},
    {"GuardOnDataDependentSymNode", "Guard on a data-dependent value"},
    {"PendingUnbackedSymbolNotFound", "Unbacked symbol lost"},
    {"ConstraintViolationError", "Constraint violated"},
}};

struct Raised {
  std::string_view cls;     // without its module
  std::string_view module;  // "torch._dynamo.exc"
  std::string_view text;    // its message
};

// The exception at the end of a printed traceback: the first line after its frames.
Raised RaisedIn(std::string_view traceback) {
  const std::size_t begin = traceback.rfind(kTraceback);
  if (begin == kNone) return {};
  traceback.remove_prefix(begin + kTraceback.size());
  while (traceback.starts_with(' ')) {
    const std::size_t end = traceback.find('\n');
    if (end == kNone) return {};
    traceback.remove_prefix(end + 1);
  }
  const std::string_view name = Headline(traceback).substr(0, Headline(traceback).find(':'));
  const std::size_t dot = name.rfind('.');
  Raised raised;
  raised.cls = dot == kNone ? name : name.substr(dot + 1);
  raised.module = dot == kNone ? std::string_view() : name.substr(0, dot);
  raised.text = Trim(traceback.substr(std::min(traceback.size(), name.size() + 1)));
  return raised;
}

// The cause of the last exception, if the traceback contains one.
Raised CauseIn(std::string_view traceback) {
  constexpr std::string_view kCause = "\nThe above exception was the direct cause of the following exception:\n";
  constexpr std::string_view kDuring = "\nDuring handling of the above exception, another exception occurred:\n";
  const std::size_t cause = traceback.rfind(kCause), during = traceback.rfind(kDuring);
  if (cause == kNone || (during != kNone && during > cause)) return {};
  return RaisedIn(traceback.substr(0, cause));
}

std::string ReasonOfClass(std::string_view cls) {
  const auto named = std::find_if(kReasons.begin(), kReasons.end(), [&](const NamedReason& r) { return r.cls == cls; });
  if (named != kReasons.end()) return std::string(named->reason);
  return cls.starts_with("Observed") ? "Observed exception" : "Other exception";
}

// --- the reason in older releases, which have no types

constexpr std::string_view kBranching = "Data-dependent branching";
constexpr std::string_view kUntyped = "Unsupported, no type given";

struct OldName {
  std::string_view text, name;
};
constexpr std::array<OldName, 2> kOldNames = {{
    {kOldJump, kBranching},
    {kOldInlined, kBranching},
}};

// True where a text contains a variable part: values, addresses, quoted names, line numbers.
bool VariesAt(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 2> kBegins = {"()", " in file "};
  const std::string_view rest = text.substr(at);
  if (std::string_view("[{<;='\"").find(rest.front()) != kNone) return true;
  const auto digit = [&](std::size_t i, std::string_view digits) {
    return i < rest.size() && digits.find(rest[i]) != kNone;
  };
  if (rest.starts_with("0x") && digit(2, "0123456789abcdef")) return true;
  if (rest.starts_with(": ") && digit(2, "0123456789")) return true;
  return std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) { return rest.starts_with(begin); });
}

// A reason without its variable parts. The worker does the same on these releases.
std::string OldReason(std::string_view message) {
  std::string_view first = Headline(Trim(message));
  if (constexpr std::string_view kPrefix = "Unsupported: "; first.starts_with(kPrefix)) {
    first.remove_prefix(kPrefix.size());
  }
  first.remove_prefix(std::min(first.find_first_not_of("'\""), first.size()));
  if (first.starts_with("Dynamic control flow is not supported")) return std::string(kBranching);
  for (const OldName& old : kOldNames) {
    if (first == old.text) return std::string(old.name);
  }
  std::size_t end = 0;
  while (end < first.size() && !VariesAt(first, end)) ++end;
  std::string reason = Bounded(Trim(first.substr(0, end)));
  return reason.empty() ? std::string(kUntyped) : reason;
}

// The message of the break that this one replaced, if the printed traceback contains it. Otherwise its own message.
std::string_view OldMessage(std::string_view message, std::string_view traceback) {
  const Raised cause = CauseIn(traceback);
  return cause.module == "torch._dynamo.exc" && cause.cls == "Unsupported" ? cause.text : message;
}

}  // namespace

std::string_view TakeReason(std::string_view message, std::string_view traceback, BreakSite& site, std::string& outer) {
  const std::size_t handling = message.find(kWhileHandling);
  if (handling == kNone) {
    const Raised cause = CauseIn(traceback);
    if (IsTyped(message) && cause.module == "torch._dynamo.exc" && cause.cls != "Unsupported") {
      site.reason = ReasonOfClass(cause.cls);
      outer = Headline(message);
      return cause.text;
    }
    site.gb_id = IdOf(message);
    site.reason = IsTyped(message) ? Bounded(Headline(message)) : ReasonOfClass(RaisedIn(traceback).cls);
    return message;
  }
  const std::string_view inner = Trim(message.substr(0, handling));
  const std::string_view last = Trim(message.substr(message.rfind(kWhileHandling) + kWhileHandling.size()));
  const std::string_view inner_type = Headline(inner), outer_type = Headline(last);
  if (inner_type == outer_type) {  // the same type was raised again while it was handled
    site.reason = Bounded(outer_type);
    site.gb_id = IdOf(last);
    return inner;
  }
  if (std::string id = IdOf(inner); !id.empty()) {
    site.reason = Bounded(inner_type);
    site.gb_id = std::move(id);
    outer = outer_type;
    return inner;
  }
  site.reason = Bounded(outer_type);
  site.gb_id = IdOf(last);
  return message;
}

std::string_view TakeOldReason(std::string_view message, std::string_view traceback, BreakSite& site) {
  message = OldMessage(message, traceback);
  site.reason = OldReason(message);
  return message;
}

}  // namespace breakwatch::trace
