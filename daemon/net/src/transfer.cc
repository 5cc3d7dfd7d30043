#include "transfer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/gzip.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"

namespace breakwatch::net {
namespace {

constexpr std::string_view kNoAnswerWithin = ": no complete answer within ";

constexpr long kStalledBytesPerSecond = 1 << 10;
constexpr std::size_t kMaxHeaderBytes = 256u << 10;

bool HasHeader(const Headers& headers, std::string_view lower_case_name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return Lower(header.first) == lower_case_name; });
}

bool BreaksLine(std::string_view text) { return text.find_first_of(std::string_view("\r\n\0", 3)) != text.npos; }

// Reads the variables for CA certificates that users of Python and OpenSSL set, for companies with their own
// certificates.
std::string CertificatesFromEnvironment() {
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* value = std::getenv(name);
    if (value && *value) return value;
  }
  return {};
}

long Milliseconds(std::chrono::milliseconds time) {
  // For curl, 0 means no timeout.
  return static_cast<long>(std::clamp<std::int64_t>(time.count(), 1, 24 * 3600 * 1000));
}

// Configuration errors, which a retry would repeat.
bool IsPermanent(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return true;
    default:
      return false;
  }
}

}  // namespace

Transfer::Transfer() {
  StartCurl();
  handle_.reset(curl_easy_init());
}

Result<void> Transfer::Prepare(HttpRequest request, const std::string& user_agent) {
  if (!handle_) return Error{ErrorCode::kInternal, "libcurl cannot create a handle: out of memory"};
  request_ = std::move(request);
  response_ = {};
  header_bytes_ = 0;
  body_over_bound_ = headers_over_bound_ = headers_ended_ = has_enough_ = false;
  disk_error_ = 0;
  received_size_ = 0;
  if (auto opened = OpenFiles(); !opened) return opened;
  error_text_.fill('\0');
  CURL* curl = handle_.get();
  curl_easy_reset(curl);  // keeps connections, sessions and the DNS cache
  curl_easy_setopt(curl, CURLOPT_URL, request_.url.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, user_agent.c_str());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error_text_.data());
  curl_easy_setopt(curl, CURLOPT_PRIVATE, this);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  if (request_.gzip_body && !request_.body.empty()) {
    Result<std::string> packed = Gzip(request_.body);
    if (!packed) return packed.error();
    request_.body = *std::move(packed);
    request_.headers.emplace_back("Content-Encoding", "gzip");
  }
  SetLimits();
  SetMethod();
  SetAuthorization();
  SetTls();
  return SetHeaders();
}

Result<void> Transfer::OpenFiles() {
  sent_.reset(), received_.reset();
  if (const std::string& path = request_.body_file; !path.empty()) {
    sent_.reset(std::fopen(path.c_str(), "rbe"));
    struct stat at {};
    if (!sent_ || fstat(fileno(sent_.get()), &at) != 0) return DiskError(path, errno);
    sent_size_ = at.st_size;
  }
  if (const std::string& path = request_.response_file; !path.empty()) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return DiskError(path, errno);
    received_.reset(fdopen(fd, "wb"));
    if (!received_) {
      const Error failed = DiskError(path, errno);
      close(fd);
      return failed;
    }
    if (ftruncate(fd, request_.response_offset) != 0 || lseek(fd, 0, SEEK_END) < 0) return DiskError(path, errno);
  }
  return {};
}

void Transfer::SetLimits() {
  CURL* curl = handle_.get();
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);  // other threads run: no SIGALRM for name look-ups
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, Milliseconds(request_.connect_timeout));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, Milliseconds(request_.timeout));
  if (request_.stall_timeout.count() > 0) {
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kStalledBytesPerSecond);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, std::max(1L, Milliseconds(request_.stall_timeout) / 1000));
  }
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, request_.fresh_connection ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, request_.fresh_connection ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_PIPEWAIT, 1L);
}

void Transfer::SetMethod() {
  CURL* curl = handle_.get();
  if (sent_) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(sent_size_));
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, &Transfer::OnRead);
    curl_easy_setopt(curl, CURLOPT_READDATA, this);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, &Transfer::OnSeek);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, this);
    return;
  }
  const bool has_body = !request_.body.empty() || request_.method == "POST" || request_.method == "PUT";
  if (has_body) {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request_.body.data());
  }
  if (request_.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (has_body ? request_.method != "POST" : request_.method != "GET") {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
}

void Transfer::SetAuthorization() {
  if (request_.user.empty()) return;
  CURL* curl = handle_.get();
  curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
  curl_easy_setopt(curl, CURLOPT_USERNAME, request_.user.c_str());
  curl_easy_setopt(curl, CURLOPT_PASSWORD, request_.password.c_str());
}

void Transfer::SetTls() {
  CURL* curl = handle_.get();
  const TlsOptions& tls = request_.tls;
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  const std::string ca_file = tls.ca_file.empty() ? CertificatesFromEnvironment() : tls.ca_file;
  if (!ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file.c_str());
  if (!tls.cert_file.empty()) curl_easy_setopt(curl, CURLOPT_SSLCERT, tls.cert_file.c_str());
  if (!tls.key_file.empty()) curl_easy_setopt(curl, CURLOPT_SSLKEY, tls.key_file.c_str());
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, tls.insecure_skip_verify ? 0L : 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, tls.insecure_skip_verify ? 0L : 2L);
}

Result<void> Transfer::SetHeaders() {
  Headers headers = request_.headers;
  if (!request_.bearer_token.empty()) headers.emplace_back("Authorization", "Bearer " + request_.bearer_token);
  header_list_.reset();
  const auto append = [this](const std::string& line) {
    curl_slist* list = curl_slist_append(header_list_.get(), line.c_str());
    (void)header_list_.release();
    header_list_.reset(list);
  };
  for (const auto& [name, value] : headers) {
    if (BreaksLine(name) || BreaksLine(value)) {
      return Error{ErrorCode::kInvalid, "header " + Truncate(ToUtf8(Trim(name)), 60) + " for " +
                                            PrintableUrl(request_.url) + " contains a line break"};
    }
    append(value.empty() ? name + ";" : name + ": " + value);  // curl's form of an empty value
  }
  append("Expect:");  // no round trip before a body; some gateways answer it wrongly
  if (!request_.body.empty() && !HasHeader(headers, "content-type")) append("Content-Type:");
  curl_easy_setopt(handle_.get(), CURLOPT_HTTPHEADER, header_list_.get());
  curl_easy_setopt(handle_.get(), CURLOPT_HEADEROPT, CURLHEADER_SEPARATE);  // proxies do not receive them
  if (!HasHeader(headers, "accept-encoding")) curl_easy_setopt(handle_.get(), CURLOPT_ACCEPT_ENCODING, "");
  return {};
}

std::size_t Transfer::OnHeader(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.header_bytes_ += size * count;
  if (transfer.header_bytes_ > kMaxHeaderBytes) {
    transfer.headers_over_bound_ = true;
    return 0;
  }
  transfer.TakeHeaderLine({data, size * count});
  return size * count;
}

void Transfer::TakeHeaderLine(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // a status line: what came before was an interim answer
    response_.headers.clear();
    headers_ended_ = false;
    return;
  }
  if (Trim(line).empty()) headers_ended_ = true;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  response_.headers.emplace_back(Lower(Trim(line.substr(0, colon))), std::string(Trim(line.substr(colon + 1))));
}

std::size_t Transfer::OnRead(char* data, std::size_t size, std::size_t count, void* self) {
  std::FILE* file = static_cast<Transfer*>(self)->sent_.get();
  const std::size_t bytes = std::fread(data, 1, size * count, file);
  return std::ferror(file) != 0 ? CURL_READFUNC_ABORT : bytes;
}

int Transfer::OnSeek(void* self, curl_off_t offset, int origin) {
  std::FILE* file = static_cast<Transfer*>(self)->sent_.get();
  return fseeko(file, offset, origin) == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

bool Transfer::IsAnswered(int status) {
  long answered = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &answered);
  return answered == status;
}

bool Transfer::WritesFile() { return received_ && (IsAnswered(200) || IsAnswered(206)); }

std::size_t Transfer::OnBody(char* data, std::size_t size, std::size_t count, void* self) {
  // Counts decoded bytes, so that a small compressed answer cannot expand without limit.
  auto& transfer = *static_cast<Transfer*>(self);
  const bool streams = transfer.request_.on_body && transfer.IsAnswered(200);
  if (streams || transfer.WritesFile()) {
    transfer.received_size_ += size * count;
    if (transfer.received_size_ > transfer.request_.max_response_bytes) {
      transfer.body_over_bound_ = true;
      return 0;
    }
    if (streams) {
      transfer.has_enough_ = !transfer.request_.on_body({data, size * count});
      return transfer.has_enough_ ? 0 : size * count;
    }
    const std::size_t written = std::fwrite(data, 1, size * count, transfer.received_.get());
    if (written != size * count) transfer.disk_error_ = errno;
    return written;
  }
  if (transfer.response_.body.size() + size * count > transfer.request_.max_response_bytes) {
    transfer.body_over_bound_ = true;
    return 0;
  }
  transfer.response_.body.append(data, size * count);
  return size * count;
}

Result<HttpResponse> Transfer::Finish(CURLcode code) {
  sent_.reset();
  // What the standard library still holds is written by the close, which can fail too.
  if (std::FILE* file = received_.release(); file != nullptr && std::fclose(file) != 0 && disk_error_ == 0)
    disk_error_ = errno;
  if (disk_error_ != 0) return DiskError(request_.response_file, disk_error_);
  if (code != CURLE_OK && !has_enough_) return MakeError(code);
  if (!headers_ended_)
    return Error{ErrorCode::kUnavailable, PrintableUrl(request_.url) + ": the answer ends in its headers", true};
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  request_.body.clear();
  return std::move(response_);
}

Error Transfer::MakeError(CURLcode code) const {
  const std::string url = PrintableUrl(request_.url);
  if (body_over_bound_) {
    return {ErrorCode::kInvalid,
            url + ": the answer is longer than " + std::to_string(request_.max_response_bytes) + " bytes"};
  }
  if (headers_over_bound_) return {ErrorCode::kInvalid, url + ": the answer's headers are too long"};
  // The code is the same for an invalid URL and an invalid answer. Only the latter follows a sent request.
  long sent_bytes = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &sent_bytes);
  if (code == CURLE_UNSUPPORTED_PROTOCOL && sent_bytes > 0) {
    return {ErrorCode::kUnavailable, url + ": the server does not speak HTTP"};
  }
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
    return {ErrorCode::kInvalid, url + ": not an http or https URL"};
  }
  if (code == CURLE_OPERATION_TIMEDOUT && request_.stall_timeout.count() > 0) {
    return {ErrorCode::kUnavailable,
            url + std::string(kNoAnswerWithin) + std::to_string(request_.timeout.count()) +
                " ms, or nothing came for " + std::to_string(request_.stall_timeout.count()) + " ms",
            true};
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return {ErrorCode::kUnavailable,
            url + std::string(kNoAnswerWithin) + std::to_string(request_.timeout.count()) + " ms (" +
                std::to_string(request_.connect_timeout.count()) + " ms to connect)",
            true};
  }
  if (code == CURLE_ABORTED_BY_CALLBACK)
    return {ErrorCode::kUnavailable, url + ": no answer before this program ended; its next run sends it", true};
  const std::string_view text = error_text_[0] != '\0' ? error_text_.data() : curl_easy_strerror(code);
  return {ErrorCode::kUnavailable, url + ": " + ToUtf8(text), !IsPermanent(code)};
}

bool IsTimeout(const Error& error) { return error.message.find(kNoAnswerWithin) != std::string::npos; }

}  // namespace breakwatch::net
