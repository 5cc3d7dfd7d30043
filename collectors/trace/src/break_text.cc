#include "break_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "breakwatch/core/text.h"
#include "place.h"

namespace breakwatch::trace {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kReasonBytes = 120, kTextBytes = 2000, kSourceBytes = 300, kMaxHints = 16;
constexpr std::string_view kHead = "Graph break in user code at ";
constexpr std::string_view kReason = "Graph Break Reason: ", kOldReason = "Reason: ";
constexpr std::string_view kUserCode = "\n\nUser code traceback:\n", kOldUserCode = "\nUser code traceback:\n";
constexpr std::string_view kWhileHandling = "*** While handling this graph break, another graph break occurred: ***";
constexpr std::string_view kTraceback = "Traceback (most recent call last):\n";
constexpr std::string_view kBlanks = " \t\n\r\f\v";

std::string_view Headline(std::string_view text) { return Trim(FirstLine(text)); }

// At most `max` bytes of UTF-8.
std::string Clip(std::string_view text, std::size_t max) { return Truncate(ToUtf8(text.substr(0, max + 3)), max); }

// Words joined by single blanks, with a maximum length: a reason becomes a label.
std::string Bounded(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 4 * kReasonBytes)) {
    const bool blank = kBlanks.find(c) != kNone;
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return Clip(out, kReasonBytes);
}

// Each line stripped, the whole bounded.
std::string Clean(std::string_view text) {
  text = Trim(text);
  std::string out;
  while (out.size() <= kTextBytes) {
    const std::size_t end = text.find('\n');
    out += Trim(text.substr(0, end));
    if (end == kNone) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return Clip(out, kTextBytes);
}

// --- the grammar of a message: type, "  Explanation: ", "  Hint: " ..., "  Developer debug context: ", a link

struct Found {
  std::size_t at = kNone;   // offset of the line break before the blanks
  std::size_t end = kNone;  // offset after the label
};

// Finds the first `label` at or after `from` that begins a line. Blanks may precede it. At least `breaks` line breaks
// must precede those blanks.
Found FindLabel(std::string_view text, std::string_view label, std::size_t from, std::size_t breaks = 1) {
  for (std::size_t at = text.find(label, from); at != kNone; at = text.find(label, at + 1)) {
    std::size_t begin = at;
    std::size_t lines = 0, start = kNone;
    while (begin > from && kBlanks.find(text[begin - 1]) != kNone) {
      --begin;
      if (text[begin] != '\n') continue;
      ++lines;
      // Requires two line breaks in a row, followed only by blanks.
      if (breaks == 1 || (begin > from && text[begin - 1] == '\n')) start = breaks == 1 ? begin : begin - 1;
    }
    if (lines >= breaks && start != kNone) return {start, at + label.size()};
  }
  return {};
}

constexpr std::string_view kExplanation = "Explanation: ", kHint = "Hint: ", kContext = "Developer debug context: ";

// Where an explanation or a hint that begins at `from` ends.
std::size_t EndOfPart(std::string_view text, std::size_t from) {
  const Found hint = FindLabel(text, kHint, from), context = FindLabel(text, kContext, from, 2);
  return std::min({hint.at, context.at, text.size()});
}

void TakeTexts(std::string_view message, BreakSite& site) {
  const Found explanation = FindLabel(message, kExplanation, 0), context = FindLabel(message, kContext, 0);
  if (explanation.at == kNone && context.at == kNone) {
    site.explanation = Clean(message);
  }
  if (explanation.at != kNone) {
    site.explanation = Clean(message.substr(explanation.end, EndOfPart(message, explanation.end) - explanation.end));
  }
  if (context.at != kNone) {
    const std::size_t end = message.find("\n\n For more details about", context.end);
    site.context = Clean(message.substr(context.end, end == kNone ? kNone : end - context.end));
  }
  for (Found hint = FindLabel(message, kHint, 0); hint.at != kNone && site.hints.size() < kMaxHints;) {
    const std::size_t end = EndOfPart(message, hint.end);
    site.hints.push_back(Clean(message.substr(hint.end, end - hint.end)));
    hint = FindLabel(message, kHint, end);
  }
}

// The first matching row gives the fixability. Rows go from "never works" to "caused by another break".
struct Fixability {
  std::string_view name, text;
};
constexpr std::array<Fixability, 7> kFixability = {{
    {"fundamental", "This graph break is fundamental - it is unlikely"},
    {"user_error", "Your code may result in an error when running in eager."},
    {"inference_mode", "Avoid using `tensor.is_inference()` and"},
    {"supportable", "It may be possible to write Dynamo tracing rules for this"},
    {"difficult", "This graph break may be difficult to debug."},
    {"dynamo_bug", "This is likely to be a Dynamo bug."},
    {"caused_by_earlier", "This graph break may have been caused by an earlier graph"},
}};

std::string FixabilityOf(const std::vector<std::string>& hints) {
  if (hints.empty()) return "none";
  for (const Fixability& kind : kFixability) {
    for (std::string hint : hints) {
      std::replace(hint.begin(), hint.end(), '\n', ' ');
      if (hint.find(kind.text) != std::string::npos) return std::string(kind.name);
    }
  }
  return "other";
}

// "GB0059" from the link at the end of a message; empty where the type has no entry in Dynamo's registry.
std::string IdOf(std::string_view message) {
  constexpr std::string_view kLink = "compile-graph-break-site/gb/gb";
  const std::size_t at = message.find(kLink);
  if (at == kNone) return {};
  std::string id = "GB";
  for (const char c : message.substr(at + kLink.size(), 8)) {
    if (c < '0' || c > '9') break;
    id += c;
  }
  return id.size() > 2 ? id : std::string();
}

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

// --- the reason

// Dynamo's prefixes for breaks after which it does not resume normally.
struct Prefix {
  std::string_view text, wrapped_in;
};
constexpr std::array<Prefix, 3> kPrefixes = {{
    {"Encountered graph break that we cannot resume from.", "cannot resume"},
    {"Failed to handle graph break gracefully.", "frame skipped"},
    {"Encountered graph break ", ""},
}};

struct Logged {
  std::string_view wrapped_in, message;
};

Logged Unwrap(std::string_view reason) {
  for (const Prefix& prefix : kPrefixes) {
    if (!reason.starts_with(prefix.text)) continue;
    const std::size_t end = reason.find("\n\n");
    return {prefix.wrapped_in, end == kNone ? std::string_view() : reason.substr(end + 2)};
  }
  return {"", reason};
}

bool IsTyped(std::string_view message) { return FindLabel(message, kExplanation, 0).at != kNone; }

// Sets the reason and the id. Returns the text that they come from. `outer`: the type of the wrapping exception, if
// any.
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

// --- the place

struct Frame {
  std::string_view path, function, source;
  int line = 0;
};

int ToLine(std::string_view text) {
  int line = 0;
  std::from_chars(text.data(), text.data() + text.size(), line);
  return std::max(0, line);
}

// The innermost of `  File "PATH", line N, in NAME` with its line of source below.
Frame LastFrame(std::string_view stack) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ", kIn = ", in ";
  Frame frame;
  std::size_t at = stack.rfind("\n  File \"");
  at = at == kNone ? (stack.starts_with(kFile) ? 0 : kNone) : at + 1;
  if (at == kNone) return frame;
  stack.remove_prefix(at + kFile.size());
  const std::string_view head = stack.substr(0, stack.find('\n'));
  const std::size_t line = head.rfind(kLine);
  if (line == kNone) return frame;
  frame.path = head.substr(0, line);
  const std::string_view rest = head.substr(line + kLine.size());
  frame.line = ToLine(rest);
  if (const std::size_t in = rest.find(kIn); in != kNone) frame.function = rest.substr(in + kIn.size());
  stack.remove_prefix(std::min(stack.size(), head.size() + 1));
  if (stack.starts_with("    ")) frame.source = Headline(stack);
  return frame;
}

// The stack of the user's code, without the exception's own traceback after it.
std::string_view UserStack(std::string_view text) {
  for (const std::string_view end :
       {std::string_view("\nTraceback (most recent call last):"), std::string_view("\nNoneType: None"),
        std::string_view("\nNOTE: the most recent")}) {
    text = text.substr(0, text.find(end));
  }
  return text;
}

void TakePlace(std::string_view place, const Frame& frame, std::string_view torch_root, UserFiles& files,
               BreakSite& site) {
  const std::size_t colon = place.rfind(':');
  const std::string_view path = place.substr(0, colon);
  site.line = colon == kNone ? 0 : ToLine(place.substr(colon + 1));
  SourceFile source = RelativeFile(path, torch_root);
  site.file = ToUtf8(source.owner == "user" ? files.Name(path) : source.file);
  site.frame = std::move(source.owner);
  if (frame.path != path || frame.line != site.line) return;  // not the stack of the broken function
  site.function = Clip(PlainFunction(frame.function), kSourceBytes);
  site.source_line = Clip(frame.source, kSourceBytes);
}

std::string SiteId(const BreakSite& site) {
  std::string key = site.gb_id.empty() ? site.reason : site.gb_id;
  for (const std::string* part : {&site.file, &site.function, &site.source_line}) {
    key += '\0';
    key += *part;
  }
  return Sha256Hex(key).substr(0, 16);
}

}  // namespace

std::optional<BreakSite> ParseBreak(std::string_view payload, std::string_view torch_root, UserFiles& files) {
  if (!payload.starts_with(kHead)) return std::nullopt;
  payload.remove_prefix(kHead.size());
  const std::string_view place = payload.substr(0, payload.find('\n'));
  payload.remove_prefix(std::min(payload.size(), place.size() + 1));
  const bool old = payload.starts_with(kOldReason);
  if (!old && !payload.starts_with(kReason)) return std::nullopt;
  payload.remove_prefix(old ? kOldReason.size() : kReason.size());
  const std::string_view user_code = payload.find(kUserCode) == kNone ? kOldUserCode : kUserCode;
  const std::size_t stack = payload.find(user_code);
  const std::string_view below = stack == kNone ? std::string_view() : payload.substr(stack + user_code.size());
  std::string_view reason = payload.substr(0, stack);
  reason = reason.substr(0, reason.find("\n\nStack variable source attribution:\n"));

  BreakSite site;
  site.occurrences = 1;
  const Logged logged = Unwrap(reason);
  const std::size_t at = below.find(kTraceback);
  const std::string_view traceback = at == kNone ? std::string_view() : below.substr(at);
  std::string outer;
  std::string_view message;
  if (old && !IsTyped(logged.message)) {
    message = OldMessage(logged.message, traceback);
    site.reason = OldReason(message);
  } else {
    message = TakeReason(logged.message, traceback, site, outer);
  }
  TakeTexts(message, site);
  site.fixability = FixabilityOf(site.hints);
  if (!outer.empty() && !logged.wrapped_in.empty()) outer += " / ";
  site.wrapped_in = Bounded(outer + std::string(logged.wrapped_in));
  TakePlace(place, LastFrame(UserStack(below)), torch_root, files, site);
  site.site_id = SiteId(site);
  return site;
}

BreakSite UnloggedBreak(std::string_view message, const Unlogged& place, std::string_view torch_root,
                        UserFiles& files) {
  BreakSite site;
  site.occurrences = 1;
  if (IsTyped(message)) {
    std::string outer;
    TakeTexts(TakeReason(message, {}, site, outer), site);
    site.wrapped_in = Bounded(outer);
  } else {
    site.reason = OldReason(message);
    TakeTexts(message, site);
  }
  site.fixability = FixabilityOf(site.hints);
  site.wrapped_in = Bounded(site.wrapped_in + (site.wrapped_in.empty() || place.wrapped_in.empty() ? "" : " / ") +
                            std::string(place.wrapped_in));
  TakePlace(std::string(place.path) + ":" + std::to_string(place.line), {}, torch_root, files, site);
  site.function = Clip(PlainFunction(place.function), kSourceBytes);
  site.site_id = SiteId(site);
  return site;
}

bool IsOldText(std::string_view message) { return !message.empty() && !IsTyped(message); }

bool IsOldLog(std::string_view payload) {
  payload.remove_prefix(std::min(payload.size(), payload.find('\n') == kNone ? 0 : payload.find('\n') + 1));
  return payload.starts_with(kOldReason);
}

bool IsOldLog(std::string_view payload, std::string_view reason) {
  if (!IsOldLog(payload)) return false;
  payload.remove_prefix(payload.find('\n') + 1 + kOldReason.size());
  constexpr std::string_view kPrefix = "Unsupported: ";
  if (payload.starts_with(kPrefix)) payload.remove_prefix(kPrefix.size());
  payload.remove_prefix(std::min(payload.find_first_not_of("'\""), payload.size()));
  return payload.starts_with(reason);
}

}  // namespace breakwatch::trace
