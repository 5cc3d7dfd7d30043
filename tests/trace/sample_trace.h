// Traces written record by record, and the folder that contains them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "digests.h"

namespace breakwatch::trace {

inline std::string Md5(const std::string& text) {
  Digest digest("MD5");
  digest.Add(text);
  return digest.Take();
}

// A record as torch writes it. `members` follow the record's own, "\"frame_id\": 0, ...".
inline std::string RecordText(const std::string& json, const std::string* payload = nullptr) {
  std::string text =
      "V1206 15:20:13.928000 4171 /opt/lib/python3.11/site-packages/torch/_dynamo/utils.py:2473] {" + json;
  if (payload == nullptr) return text + "}\n";
  text += ", \"has_payload\": \"" + Md5(*payload) + "\"}\n\t";
  for (const char c : *payload) text += c == '\n' ? std::string("\n\t") : std::string(1, c);
  return text + "\n";
}

inline std::string At(int frame, int compile, int attempt = 0) {
  return ", \"frame_id\": " + std::to_string(frame) + ", \"frame_compile_id\": " + std::to_string(compile) +
         ", \"attempt\": " + std::to_string(attempt);
}

inline std::string Artifact(const std::string& name, const std::string& payload, const std::string& at) {
  return RecordText("\"artifact\": {\"name\": \"" + name + "\", \"encoding\": \"string\"}" + at, &payload);
}

inline std::string Start(int frame, int compile) {
  return RecordText(
      "\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"<module>\", \"filename\": 0}, "
      "{\"line\": 12, \"name\": \"forward\", \"filename\": 1, \"loc\": \"x\"}]}" +
      At(frame, compile));
}

inline std::string String(int id, const std::string& text) {
  return RecordText("\"str\": [\"" + text + "\", " + std::to_string(id) + "]");
}

inline std::string Graph(int frame, int compile) {
  const std::string code = "class GraphModule(torch.nn.Module):\n    def forward(self):\n        return ()\n";
  return RecordText("\"dynamo_output_graph\": {\"sizes\": {\"x\": [4, 4]}}" + At(frame, compile, 1), &code);
}

// `more` is added to the metrics: "\"fail_type\": \"X\"".
inline std::string Metrics(int frame, int compile, const std::string& more = "\"fail_type\": null") {
  return RecordText(
      "\"compilation_metrics\": {\"compile_id\": \"" + std::to_string(frame) + "/" + std::to_string(compile) +
      "\", \"co_name\": \"forward\", \"co_filename\": \"/home/job/net.py\", \"co_firstlineno\": 12, \"guard_count\": "
      "7, "
      "\"graph_op_count\": 5, \"graph_input_count\": 2, \"restart_reasons\": [], \"has_guarded_code\": true, "
      "\"is_forward\": true, \"pytorch_version\": \"2.15.0+cu132\", \"python_version\": \"3.11.7 (main) [GCC 12]\", " +
      more + "}" + At(frame, compile));
}

inline const std::string kPrintMessage =
    "Failed to trace builtin operator\n"
    "  Explanation: Dynamo does not know how to trace builtin operator `print`\n"
    "    with argument types ['str']\n"
    "  Hint: Avoid calling builtin `print`.\n"
    "  Hint: This graph break is fundamental - it is unlikely that Dynamo will ever be able to trace through your "
    "code. "
    "Consider finding a workaround.\n\n"
    "  Developer debug context: builtin print [<class 'ConstantVariable'>] False\n\n"
    " For more details about this graph break, please visit: "
    "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0059.html";

// The payload of a break at line `line` of net.py.
inline std::string BreakText(const std::string& reason, int line = 239, const std::string& function = "inner") {
  const std::string at = std::to_string(line);
  return "Graph break in user code at /home/job/net.py:" + at + "\nGraph Break Reason: " + reason +
         "\n\nUser code traceback:\n  File \"/home/job/run.py\", line 7, in <module>\n    net(x)\n    ~~~^^^\n"
         "  File \"/home/job/net.py\", line " +
         at + ", in " + function +
         "\n    print(\"seen\")\n    ~~~~~^^^^^^^^\n\n"
         "Traceback (most recent call last):\n  File \"/opt/torch/_dynamo/exc.py\", line 819, in unimplemented\n"
         "    raise Unsupported(msg, gb_type, skip_frame, **options)\n"
         "torch._dynamo.exc.Unsupported: " +
         reason + "\n";
}

// The same in the form of older releases.
inline std::string OldBreakText(const std::string& reason, int line = 239, const std::string& function = "inner") {
  const std::string at = std::to_string(line);
  return "Graph break in user code at /home/job/net.py:" + at + "\nReason: " + reason +
         "\nUser code traceback:\n  File \"/home/job/run.py\", line 7, in <module>\n    net(x)\n"
         "  File \"/home/job/net.py\", line " +
         at + ", in " + function +
         "\n    print(\"seen\")\n\n"
         "Traceback (most recent call last):\n  File \"/opt/torch/_dynamo/exc.py\", line 317, in unimplemented\n"
         "    raise Unsupported(msg, case_name=case_name)\ntorch._dynamo.exc.Unsupported: " +
         reason + "\n";
}

inline std::string Tracing(const std::string& message) {
  return "Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):\n\n" + message;
}

inline std::string Break(int frame, int compile, int line = 239) {
  return Artifact("dynamo_graph_break_reason", BreakText(Tracing(kPrintMessage), line), At(frame, compile));
}

// A compilation that breaks once and makes one graph.
inline std::string BrokenCompile(int frame, int compile, int line = 239) {
  return Start(frame, compile) + Break(frame, compile, line) + Graph(frame, compile) + Metrics(frame, compile);
}

class TraceFolder : public testing::Test {
 protected:
  TraceFolder() {
    std::string pattern = testing::TempDir() + "trace-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~TraceFolder() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/dedicated_log_torch_trace_" + name + ".log", std::ios::binary) << text;
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace breakwatch::trace
