// Reads the text of a ModelFilter: words, then a tree by recursive descent.
#include <algorithm>
#include <utility>

#include "breakwatch/core/model_filter.h"
#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
#include "filter_node.h"

namespace breakwatch {
namespace {

using Node = ModelFilter::Node;
using Op = Node::Op;

constexpr std::size_t kShownBytes = 200;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin a file with it

Error Wrong(const std::string& problem) { return {ErrorCode::kUsage, problem}; }
std::string Shown(std::string_view text) { return "\"" + ShortLine(text, kShownBytes) + "\""; }

struct Word {
  std::string original;                   // without quotes
  std::string text;                       // the same in lower case
  std::size_t colon = std::string::npos;  // the first one outside quotes
  bool quoted = false;                    // a part of it was: it is no operator
  bool is_operator = false;               // ( ) not and or
};

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Reads from `at`, at a quote, to its end. False: the quote is not closed.
bool ReadQuoted(std::string_view text, std::size_t& at, std::string& out) {
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (text[at] == quote) return ++at, true;
    const bool escapes = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == quote || text[at + 1] == '\\');
    if (escapes) ++at;
    out += text[at];
  }
  return false;
}

Result<Word> ReadWord(std::string_view text, std::size_t& at) {
  Word word;
  if (text[at] == '(' || text[at] == ')') {
    word.text = text[at++];
    word.is_operator = true;
    return word;
  }
  const std::size_t start = at;
  while (at < text.size() && !IsBlank(text[at]) && text[at] != '(' && text[at] != ')') {
    if (text[at] == '"' || text[at] == '\'') {
      word.quoted = true;
      if (!ReadQuoted(text, at, word.original)) return Wrong("a quote is not closed: " + Shown(text.substr(start)));
      continue;
    }
    if (text[at] == ':' && word.colon == std::string::npos) word.colon = word.original.size();
    word.original += text[at++];
  }
  word.text = Lower(word.original);
  word.is_operator = !word.quoted && (word.text == "not" || word.text == "and" || word.text == "or");
  return word;
}

Result<std::vector<Word>> ReadWords(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    if (IsBlank(text[at])) {
      ++at;
      continue;
    }
    auto word = ReadWord(text, at);
    if (!word) return word.error();
    words.push_back(*std::move(word));
  }
  return words;
}

Result<Node> ParseText(std::string_view text, const ModelFilter::ReadFile* read_file);

Result<Node> ParseKeyed(const Word& word) {
  const std::string name = word.text.substr(0, word.colon), value = word.text.substr(word.colon + 1);
  const auto key = filter::ParseKey(name);
  if (!key) {
    const auto nearest = NearestName(name, filter::KeyNames());
    return Wrong("unknown key " + Shown(name) + (nearest ? "; did you mean \"" + *nearest + "\"?" : ".") +
                 " Keys: " + Joined(filter::KeyNames()));
  }
  if (value.empty()) return Wrong(name + ": expects a value");
  if (auto checked = filter::CheckValue(*key, value); !checked) return checked.error();
  return Node{.op = Op::kTerm, .key = *key, .text = value};
}

Result<Node> ParseId(const Word& word) {
  if (word.text.empty()) return Wrong("an id is empty");
  if (!word.quoted && word.text.find('@') != word.text.npos) {
    return Wrong(Shown(word.text) + ": selects a model at every revision; leave out @ and the revision");
  }
  return Node{.op = Op::kTerm, .key = FilterKey::kId, .text = word.text};
}

// The line without its comment: from a # at its start or after a blank, outside quotes.
std::string_view WithoutComment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == '\\')
        ++i;
      else if (line[i] == quote)
        quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#' && (i == 0 || IsBlank(line[i - 1]))) {
      return Trim(line.substr(0, i));
    }
  }
  return Trim(line);
}

Result<Node> ParseLines(const std::string& path, std::string_view text) {
  Node file{.op = Op::kFile};
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = WithoutComment(FirstLine(text));
    text.remove_prefix(std::min(text.size(), FirstLine(text).size() + 1));
    if (line.empty()) continue;
    auto node = ParseText(line, nullptr);
    if (!node) return node.error().Within(path + ":" + std::to_string(number));
    const bool plain = node->op == Op::kTerm && node->key == FilterKey::kId && !filter::HasWildcard(node->text);
    plain ? (void)file.ids.insert(node->text) : file.children.push_back(*std::move(node));
  }
  if (file.ids.empty() && file.children.empty()) return Wrong(path + " names no model");
  return file;
}

// `read_file`: null in a file; the function is empty where files are refused.
Result<Node> ParseFile(const std::string& path, const ModelFilter::ReadFile* read_file) {
  if (path.empty()) return Wrong("@ expects the path of a file");
  if (read_file == nullptr) return Wrong("@" + path + ": a file cannot include another one");
  if (!*read_file) return Wrong("@" + path + ": a file is read for the command line only");
  const auto text = (*read_file)(path);
  if (!text) return Wrong(path + ": " + text.error().message);
  if (text->size() > kMaxFilterFileBytes) return Wrong(path + ": larger than 1 MiB");
  if (ToUtf8(*text) != *text) return Wrong(path + ": is not UTF-8 text");
  std::string_view lines = *text;
  if (lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
  return ParseLines(path, lines);
}

class Parser {
 public:
  Parser(std::vector<Word> words, std::string_view text, const ModelFilter::ReadFile* read_file)
      : words_(std::move(words)), text_(text), read_file_(read_file) {}

  Result<Node> Whole() {
    auto node = Either();
    if (node && at_ < words_.size()) {
      return Wrong("expected and, or, or the end instead of " + Shown(words_[at_].text) + " in " + Shown(text_));
    }
    return node;
  }

 private:
  bool Take(std::string_view name) {
    const bool taken = at_ < words_.size() && words_[at_].is_operator && words_[at_].text == name;
    if (taken) ++at_;
    return taken;
  }

  Result<Node> Either() { return Chain(Op::kOr, "or", &Parser::Both); }
  Result<Node> Both() { return Chain(Op::kAnd, "and", &Parser::One); }

  Result<Node> Chain(Op op, std::string_view name, Result<Node> (Parser::*part)()) {
    auto first = (this->*part)();
    if (!first) return first;
    Node chain{.op = op};
    chain.children.push_back(*std::move(first));
    while (Take(name)) {
      auto next = (this->*part)();
      if (!next) return next;
      chain.children.push_back(*std::move(next));
    }
    if (chain.children.size() == 1) return Node(std::move(chain.children.front()));
    return chain;
  }

  Result<Node> One() {
    if (++depth_ > kMaxFilterDepth) return Wrong("more than " + std::to_string(kMaxFilterDepth) + " levels deep");
    auto node = Take("not") ? Not() : Take("(") ? Group() : Term();
    --depth_;
    return node;
  }

  Result<Node> Not() {
    auto negated = One();
    if (!negated) return negated;
    Node node{.op = Op::kNot};
    node.children.push_back(*std::move(negated));
    return node;
  }

  Result<Node> Group() {
    auto node = Either();
    if (node && !Take(")")) return Wrong("a parenthesis is not closed in " + Shown(text_));
    return node;
  }

  Result<Node> Term() {
    if (at_ == words_.size()) return Wrong("expected a model or KEY:VALUE at the end of " + Shown(text_));
    const Word& word = words_[at_];
    if (word.is_operator) {
      return Wrong("expected a model or KEY:VALUE instead of " + Shown(word.text) + " in " + Shown(text_));
    }
    ++at_;
    if (word.original.starts_with('@')) return ParseFile(word.original.substr(1), read_file_);
    const bool keyed = word.colon != word.text.npos && !IsSelector(word.text);
    return keyed ? ParseKeyed(word) : ParseId(word);
  }

  std::vector<Word> words_;
  std::string_view text_;
  const ModelFilter::ReadFile* read_file_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Result<Node> ParseText(std::string_view text, const ModelFilter::ReadFile* read_file) {
  if (text.size() > kMaxFilterBytes) return Wrong("longer than 64 KiB");
  auto words = ReadWords(text);
  if (!words) return words.error();
  if (words->empty()) return Wrong("is empty");
  return Parser(*std::move(words), text, read_file).Whole();
}

}  // namespace

Result<ModelFilter> ModelFilter::Parse(std::string_view text, const ReadFile& read_file) {
  auto root = ParseText(text, &read_file);
  if (!root) return root.error();
  return ModelFilter(std::string(text), std::make_shared<const Node>(*std::move(root)));
}

bool IsModelFilter(std::string_view text) {
  if (IsSelector(text)) return false;
  return text.starts_with('@') || text.find_first_of("*?():\"' \t") != text.npos;
}

}  // namespace breakwatch
