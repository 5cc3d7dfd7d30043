#include "postgresql_server.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace breakwatch::store {
namespace {

// Debian keeps the server's programs outside of PATH, by version.
std::string ProgramFolder() {
  std::error_code ignored;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored))
    if (std::filesystem::exists(version.path() / "bin/initdb")) return (version.path() / "bin").string();
  return "";
}

}  // namespace

PostgresqlServer::PostgresqlServer() { unavailable_ = Start(); }

PostgresqlServer::~PostgresqlServer() {
  if (server_ > 0) {
    ::kill(server_, SIGQUIT);
    ::waitpid(server_, nullptr, 0);
  }
  if (output_ >= 0) ::close(output_);
}

std::string PostgresqlServer::Url(const std::string& database) const {
  return "postgresql://breakwatch@/" + database + "?host=" + folder_.path().string();
}

std::string PostgresqlServer::Start() {
  const std::string programs = ProgramFolder();
  if (programs.empty()) return "no PostgreSQL server is installed";
  if (::geteuid() == 0) {
    // The server refuses to run as root, and its own user must be able to reach the folder.
    const passwd* user = ::getpwnam("postgres");
    if (user == nullptr) return "PostgreSQL does not run as root, and there is no user postgres";
    if (::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) return "cannot give a folder to postgres";
  }
  const std::string data = (folder_.path() / "data").string();
  int status = 0;
  const pid_t init = Spawn({programs + "/initdb", "--pgdata=" + data, "--username=breakwatch", "--auth=trust",
                            "--encoding=UTF8", "--locale=C", "--no-sync"},
                           ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::waitpid(init, &status, 0);
  if (status != 0) return "initdb failed";

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  output_ = ends[0];
  server_ = Spawn({programs + "/postgres", "-D", data, "-k", folder_.path().string(), "-c", "listen_addresses=", "-c",
                   "fsync=off", "-c", "log_min_messages=log", "-c", "log_checkpoints=off", "-c", "max_connections=40"},
                  ends[1]);
  // It prints a line when it is ready; the rest of its output fits into the pipe.
  std::string said;
  std::array<char, 512> bytes;
  while (said.find("ready to accept connections") == std::string::npos) {
    const ssize_t size = ::read(output_, bytes.data(), bytes.size());
    if (size <= 0) return "the server ended: " + said;
    said.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return "";
}

// Takes ownership of `output`. The child is not root and ends with this process.
pid_t PostgresqlServer::Spawn(const std::vector<std::string>& command, int output) const {
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const passwd* user = ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr;
  const pid_t child = ::fork();
  if (child == 0) {
    if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0))
      ::_exit(126);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    if (::chdir("/") != 0) ::_exit(126);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(output);
  return child;
}

}  // namespace breakwatch::store
