// One function for each format of a Document.
#pragma once

#include <cstddef>
#include <string>

#include "breakwatch/report/formats.h"
#include "document.h"

namespace breakwatch::report {

// Of a pull request's comment: GitHub accepts 65,536 characters.
inline constexpr std::size_t kMarkdownBytes = 60'000;

// At most `max_bytes`, but at least a heading. Rows that do not fit are counted.
std::string Markdown(const Document& document, std::size_t max_bytes = kMarkdownBytes);

// `max_rows`: of each table; others are counted.
std::string Html(const Document& document, std::size_t max_rows = 5'000);

std::string JUnit(const Document& document);
std::string Sarif(const Document& document);
std::string WarningsNg(const Document& document);
GithubOutput Github(const Document& document, std::size_t summary_bytes);
std::string Mail(const Document& document);

}  // namespace breakwatch::report
