#include "break_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "break_message.h"
#include "break_reason.h"
#include "breakwatch/core/text.h"
#include "place.h"

namespace breakwatch::trace {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kSourceBytes = 300;
constexpr std::string_view kHead = "Graph break in user code at ";
constexpr std::string_view kReason = "Graph Break Reason: ", kOldReason = "Reason: ";
constexpr std::string_view kUserCode = "\n\nUser code traceback:\n", kOldUserCode = "\nUser code traceback:\n";

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
    message = TakeOldReason(logged.message, traceback, site);
  } else {
    message = TakeReason(logged.message, traceback, site, outer);
  }
  TakeTexts(message, site);
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
    TakeTexts(TakeOldReason(message, {}, site), site);
  }
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
