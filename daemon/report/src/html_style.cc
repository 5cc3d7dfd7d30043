#include "html_style.h"

#include "table_rows.h"

namespace breakwatch::report {
namespace {

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--fill:#f6f8fa;
--good:#116329;--bad:#a40e26;--warn:#7d4e00;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9ea7b3;--line:#30363d;--fill:#161b22;
--good:#56d364;--bad:#ff7b72;--warn:#e3b341;--link:#79c0ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:90rem;background:var(--back);color:var(--text);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:0}
section,details{margin:1.5rem 0}summary{cursor:pointer}summary h2{display:inline}
a{color:var(--link)}code{font-family:ui-monospace,monospace;font-size:.9em;background:var(--fill)}
.verdict{font-weight:600;border-left:.3rem solid var(--line);padding-left:.7rem}
.passed{border-color:var(--good);color:var(--good)}.failed{border-color:var(--bad);color:var(--bad)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1rem}dt{color:var(--soft)}dd{margin:0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem;margin-top:.5rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid var(--line)}
td:first-child,td:last-child:not(.n){min-width:12rem}
thead th{background:var(--fill);white-space:nowrap;font-size:.9em;overflow-wrap:normal}
.n{text-align:right;font-variant-numeric:tabular-nums}
td.good,td.bad,td.warn,td.soft,td a{white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.soft{color:var(--soft)}
.site{border:1px solid var(--line);border-radius:.4rem;padding:.5rem .8rem;margin:.7rem 0}.site p{margin:.4rem 0}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
@page{size:landscape}
@media print{:root{--back:#fff;--text:#000;--soft:#333;--line:#999;--fill:#fff;--good:#000;--bad:#000;--warn:#000}
body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible}table{font-size:8pt}thead th{white-space:normal}
tr,.site{break-inside:avoid}
thead{display:table-header-group}
details::details-content{content-visibility:visible;block-size:auto}}
@media screen and (max-width:40rem){body{padding:.7rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table,tbody,tr,td{display:block}tr{border-bottom:2px solid var(--line);padding:.3rem 0}
td,td.n{border:0;padding:.1rem 0 .1rem 8.5rem;text-indent:-8.5rem;text-align:left}td:empty{display:none}
td::before{display:inline-block;width:8.5rem;text-indent:0;color:var(--soft);font-size:.8rem}
)css";

}  // namespace

std::string HtmlStyle(const Document& document) {
  std::string style = kStyle;
  for (const Section& section : document.sections) {
    int column = 0;
    for (const std::size_t i : VisibleColumns(section.table)) {
      style += "#" + section.id + " td:nth-child(" + std::to_string(++column) + ")::before{content:\"" +
               section.table.columns[i].title + "\"}\n";
    }
  }
  return style + "}\n";
}

}  // namespace breakwatch::report
