// Build tool: writes a source file with the given files, each compressed, with its digest.
// Usage: breakwatch_embed FOLDER OUTPUT FILE...
#include <openssl/sha.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kGzip = 15 + 16;  // window bits of zlib, with the header of gzip

std::string Compressed(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("cannot start zlib");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) throw std::runtime_error("cannot compress");
  return out;
}

std::string Digest(const std::string& text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string out;
  for (int i = 0; i < 8; ++i) {
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", digest[i]);
    out += hex;
  }
  return out;
}

const char* TypeOf(const std::string& name) {
  static const std::map<std::string, const char*> kTypes = {{"html", "text/html; charset=utf-8"},
                                                            {"js", "text/javascript; charset=utf-8"},
                                                            {"css", "text/css; charset=utf-8"},
                                                            {"svg", "image/svg+xml"}};
  return kTypes.at(name.substr(name.rfind('.') + 1));
}

std::string Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void Write(std::ostream& out, const std::string& folder, const std::vector<std::string>& names) {
  out << "// Generated from dashboards/page.\n#include \"breakwatch/page/page_files.h\"\n\n"
         "namespace breakwatch::page {\nnamespace {\n";
  std::string table;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string text = Read(folder + "/" + names[i]), bytes = Compressed(text);
    out << "const unsigned char kData" << i << "[] = {";
    for (std::size_t at = 0; at < bytes.size(); ++at)
      out << (at % 24 == 0 ? "\n" : "") << static_cast<int>(static_cast<unsigned char>(bytes[at])) << ',';
    out << "};\n";
    const std::string path = names[i] == "index.html" ? "/" : "/page/" + names[i];
    table += "    {\"" + path + "\", \"" + TypeOf(names[i]) + "\", \"\\\"" + Digest(text) +
             "\\\"\", {reinterpret_cast<const char*>(kData" + std::to_string(i) + "), sizeof kData" +
             std::to_string(i) + "}, " + std::to_string(text.size()) + "},\n";
  }
  out << "const PageFile kFiles[] = {\n"
      << table << "};\n}  // namespace\n\nstd::span<const PageFile> PageFiles() { return kFiles; }\n\n"
      << "}  // namespace breakwatch::page\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw std::runtime_error("usage: breakwatch_embed FOLDER OUTPUT FILE...");
  std::ofstream out(argv[2]);
  Write(out, argv[1], {argv + 3, argv + argc});
  out.close();
  if (!out) throw std::runtime_error(std::string("cannot write ") + argv[2]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "breakwatch_embed: %s\n", error.what());
  return 1;
}
