// The sandboxes, and how one is selected. tests/e2e/test_sandbox.py tests what a hostile program reaches in them.
#include "breakwatch/capture/launcher.h"

#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "fakes/environment_variable.h"
#include "landlock.h"
#include "process.h"
#include "seccomp.h"
#include "view.h"
#include "worker_fixture.h"

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;
using fakes::EnvironmentVariable;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class LauncherTest : public WorkerFixture {
 protected:
  void Make(const std::string& path, const std::string& text = "") {
    fs::create_directories(fs::path(folder_ + "/" + path).parent_path());
    std::ofstream(folder_ + "/" + path) << text;
  }
  void MakeProgram(const std::string& path, const std::string& text) {
    Make(path, text);
    fs::permissions(folder_ + "/" + path, fs::perms::owner_all);
  }
  SandboxOptions View(std::vector<std::string> readable, std::vector<std::string> hidden = {}) {
    SandboxOptions options;
    options.readable = std::move(readable);
    options.hidden = std::move(hidden);
    options.scratch_bytes = 16 << 20;
    options.confine = {BREAKWATCH_TEST_CONFINE};
    return options;
  }
  // What a shell prints in the sandbox.
  std::string Inside(const LauncherChoice& choice, const std::string& script) {
    std::vector<std::string> argv = choice.argv;
    argv.insert(argv.end(), {"sh", "-c", script});
    const auto output =
        RunProcess(argv, {"PATH=/usr/bin:/bin", "TMPDIR=" + folder_ + "/scratch"}, milliseconds{20'000}, 64 * 1024);
    return output.ok() ? output->out + output->err : output.error().message;
  }
  std::string NoBubblewrap() {
    MakeProgram("no_bwrap/bwrap", "#!/bin/sh\necho no namespaces here >&2\nexit 1\n");
    return folder_ + "/no_bwrap:/usr/bin:/bin";
  }
};

#define SKIP_WITHOUT(kind, choice) \
  if ((choice).used != (kind)) GTEST_SKIP() << (choice).why

TEST_F(LauncherTest, CapturesInBubblewrap) {
  const LauncherChoice choice = DefaultLauncher(View({BREAKWATCH_TEST_DATA}));
  SKIP_WITHOUT(kBubblewrap, choice);
  ZygoteOptions options = Options("scratch");
  options.launcher = choice.argv;
  options.sandbox = choice.used;
  options.scratch = folder_ + "/scratch";
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kFullGraph) << result.detail;
  EXPECT_EQ(result.sandbox, "bubblewrap");
  EXPECT_THAT(runner_->StopAll(), ElementsAre());
}

TEST_F(LauncherTest, ShowsNothingThatIsNotNamed) {
  Make("shown/file"), Make("other/file");
  const LauncherChoice choice = DefaultLauncher(View({folder_ + "/shown/"}));
  SKIP_WITHOUT(kBubblewrap, choice);
  EXPECT_EQ(Inside(choice, "ls " + folder_), "shown\n");
  EXPECT_EQ(Inside(choice, "ls /etc | grep -v -e ld.so -e alternatives -e localtime; ls -A $HOME; ls -d /root /home"),
            "ls: cannot access '/root': No such file or directory\nls: cannot access '/home': No such file or "
            "directory\n");
}

TEST_F(LauncherTest, ShowsWhatANamedLinkLeadsTo) {
  Make("real/file", "text\n");
  fs::create_symlink(folder_ + "/real", folder_ + "/link");
  const LauncherChoice choice = DefaultLauncher(View({folder_ + "/link"}));
  SKIP_WITHOUT(kBubblewrap, choice);
  EXPECT_EQ(Inside(choice, "cat " + folder_ + "/link/file " + folder_ + "/real/file"), "text\ntext\n");
}

TEST_F(LauncherTest, HidesInEveryPlaceWhereItIsShown) {
  Make("real/secret", "secret"), Make("real/state/db", "secret"), Make("real/state/env/file", "asked for\n");
  fs::create_symlink(folder_ + "/real", folder_ + "/link");
  const LauncherChoice choice = DefaultLauncher(
      View({folder_ + "/link", folder_ + "/link/state/env"}, {folder_ + "/link/secret", folder_ + "/real/state"}));
  SKIP_WITHOUT(kBubblewrap, choice);
  for (const std::string& folder : {folder_ + "/link", folder_ + "/real"}) {
    EXPECT_THAT(Inside(choice, "cat " + folder + "/secret " + folder + "/state/db"), Not(HasSubstr("secret\n")));
    EXPECT_EQ(Inside(choice, "cat " + folder + "/secret " + folder + "/state/db 2>/dev/null"), "");
    EXPECT_EQ(Inside(choice, "cat " + folder + "/state/env/file"), "asked for\n");
  }
}

TEST_F(LauncherTest, HidesDotFilesOfAHomeThatIsShown) {
  Make("home/.ssh/id", "secret"), Make("home/.tool/env/file", "asked for\n"), Make("home/project/file", "text\n");
  const EnvironmentVariable home("HOME", folder_ + "/home");
  for (const std::string& path : {std::string(std::getenv("PATH")), NoBubblewrap()}) {
    const EnvironmentVariable programs("PATH", path);
    const LauncherChoice choice = DefaultLauncher(View({folder_ + "/home", folder_ + "/home/.tool/env"}));
    if (choice.argv.empty()) GTEST_SKIP() << choice.why;
    const std::string in_home = "cat " + folder_ + "/home/";
    EXPECT_EQ(Inside(choice, in_home + ".ssh/id 2>/dev/null"), "") << choice.used;
    EXPECT_EQ(Inside(choice, in_home + ".tool/env/file; " + in_home + "project/file"), "asked for\ntext\n")
        << choice.used;
  }
}

TEST_F(LauncherTest, HidesTheTokensOfTheHubWhereverTheyLie) {
  Make("home/hub home/token", "secret"), Make("cache/huggingface/stored_tokens", "secret"), Make("token", "secret");
  const EnvironmentVariable home("HOME", folder_ + "/home"), hub("HF_HOME", "~/hub home"),
      cache("XDG_CACHE_HOME", folder_ + "/cache"), token("HF_TOKEN_PATH", folder_ + "/token");
  for (const std::string& path : {std::string(std::getenv("PATH")), NoBubblewrap()}) {
    const EnvironmentVariable programs("PATH", path);
    const LauncherChoice choice = DefaultLauncher(View({folder_}));
    if (choice.argv.empty()) GTEST_SKIP() << choice.why;
    EXPECT_EQ(Inside(choice, "cd " + folder_ + "; cat home/*/token cache/*/stored_tokens token 2>/dev/null; echo read"),
              "read\n")
        << choice.used;
  }
}

TEST_F(LauncherTest, HasNoCapabilityAndOnlyBoundedMemoryToWrite) {
  const LauncherChoice choice = DefaultLauncher(View({folder_}));
  SKIP_WITHOUT(kBubblewrap, choice);
  EXPECT_EQ(
      Inside(choice, "grep -c -e 'Cap[PEBA].*:.0000000000000000' -e 'NoNewPrivs:.1' -e 'Seccomp:.2' /proc/self/status"),
      "6\n");
  EXPECT_EQ(Inside(choice, "for f in / /dev /usr " + folder_ + "; do echo > $f/x; done 2>&1 | grep -c Read-only"),
            "4\n");
  EXPECT_THAT(Inside(choice, "df -k --output=size /breakwatch/scratch /tmp /dev/shm | tr -d ' '"),
              HasSubstr("12288\n2048\n2048\n"));
  EXPECT_EQ(Inside(choice, "tail -n +3 /proc/net/dev | grep -v lo: | wc -l"), "0\n");
}

TEST_F(LauncherTest, OpensAWritableFolderAlsoInsideAHiddenOne) {
  Make("state/secret", "secret"), Make("state/artifacts/work/x"), Make("state/artifacts/other", "secret");
  SandboxOptions options = View({folder_}, {folder_ + "/state"});
  options.writable = {folder_ + "/state/artifacts/work"};
  const std::string state = folder_ + "/state";
  const std::string script = "echo built > " + state + "/artifacts/work/package && cat " + state + "/secret " + state +
                             "/artifacts/other; echo x > " + state + "/artifacts/x; echo x > " + state + "/y";
  for (const char* path : {"", "no bubblewrap"}) {
    const EnvironmentVariable without("PATH", *path == '\0' ? std::string(std::getenv("PATH")) : NoBubblewrap());
    const LauncherChoice choice = DefaultLauncher(options);
    if (choice.argv.empty()) GTEST_SKIP() << choice.why;
    EXPECT_THAT(Inside(choice, script), Not(HasSubstr("secret\n"))) << choice.used;
    std::string built;
    std::ifstream(state + "/artifacts/work/package") >> built;
    EXPECT_EQ(built, "built") << choice.used;
    EXPECT_FALSE(fs::exists(state + "/artifacts/x") || fs::exists(state + "/y")) << choice.used;
    fs::remove(state + "/artifacts/work/package");
  }
}

TEST_F(LauncherTest, UsesLandlockWhereBubblewrapDoesNotRun) {
  if (LandlockVersion() == 0) GTEST_SKIP() << "the kernel has no Landlock";
  Make("shown/file", "text\n"), Make("shown/secret", "secret"), Make("other", "other"), Make("scratch/x");
  const EnvironmentVariable programs("PATH", NoBubblewrap());
  const LauncherChoice choice = DefaultLauncher(View({folder_ + "/shown"}, {folder_ + "/shown/secret"}));
  ASSERT_EQ(choice.used, kLandlock) << choice.why;
  EXPECT_THAT(choice.why, HasSubstr("no namespaces here"));
  EXPECT_EQ(Inside(choice, "cd " + folder_ + "; cat shown/file; cat shown/secret other 2>/dev/null; ls shown"),
            "text\nfile\nsecret\n");
  EXPECT_EQ(Inside(choice, "cd " + folder_ + "/scratch && echo x > new && cat new"), "x\n");
  EXPECT_THAT(Inside(choice, "echo x > " + folder_ + "/shown/new"), HasSubstr("Permission denied"));
  EXPECT_EQ(
      Inside(choice, "grep -c -e 'CapEff:.0000000000000000' -e 'NoNewPrivs:.1' -e 'Seccomp:.2' /proc/self/status"),
      "3\n");
}

TEST(LandlockTest, IsRefusedWhereItKnowsNoTruncation) {
  EXPECT_EQ(WhyNoLandlock(0), "the kernel has no Landlock");
  for (const int version : {1, 2}) {
    EXPECT_EQ(WhyNoLandlock(version), "the kernel's Landlock is older than version 3 (Linux 6.2)") << version;
  }
  for (const int version : {3, 4, 6, 9}) EXPECT_EQ(WhyNoLandlock(version), "") << version;
}

TEST_F(LauncherTest, HidesUnderLandlockAlsoBelowALink) {
  if (LandlockVersion() == 0) GTEST_SKIP() << "the kernel has no Landlock";
  Make("real/file", "text\n"), Make("real/state/db", "secret"), Make("scratch/x");
  fs::create_symlink(folder_ + "/real", folder_ + "/link");
  const EnvironmentVariable programs("PATH", NoBubblewrap());
  const LauncherChoice choice = DefaultLauncher(View({folder_ + "/link"}, {folder_ + "/real/state"}));
  ASSERT_EQ(choice.used, kLandlock) << choice.why;
  for (const std::string& folder : {folder_ + "/link", folder_ + "/real"}) {
    EXPECT_EQ(Inside(choice, "cat " + folder + "/file " + folder + "/state/db 2>/dev/null"), "text\n") << folder;
  }
}

TEST(ViewTest, HidesWhatLiesBelowTheSystemsFolders) {
  const std::vector<std::string> hidden = {"/usr/share", "/bin/sh", "/root"};
  const View view = MakeView({}, hidden);
  EXPECT_THAT(view.hidden, ElementsAre("/usr/share", fs::canonical("/bin/sh")));
}

TEST_F(LauncherTest, HidesSecretsBelowTheSystemsFolders) {
  const fs::path secret = "/usr/local/etc/breakwatch-launcher-test-" + std::to_string(getpid());
  struct Remove {
    const fs::path& path;
    ~Remove() { fs::remove(path); }
  } remove{secret};
  std::ofstream(secret) << "secret";
  if (!fs::exists(secret)) GTEST_SKIP() << "this user cannot write below /usr";
  Make("scratch/x");
  for (const std::string& path : {std::string(std::getenv("PATH")), NoBubblewrap()}) {
    const EnvironmentVariable programs("PATH", path);
    const LauncherChoice choice = DefaultLauncher(View({}, {secret}));
    if (choice.argv.empty()) GTEST_SKIP() << choice.why;
    EXPECT_EQ(Inside(choice, "cat " + secret.string() + " 2>/dev/null; echo read"), "read\n") << choice.used;
    EXPECT_EQ(Inside(choice, "test -r /usr/bin/env && echo seen"), "seen\n") << choice.used;
  }
}

// The results of system calls behind the filter, whatever a newer kernel's Landlock also denies.
class FilterTest : public ::testing::Test {
 protected:
  // The exit code of a process that runs `body` behind the filter.
  template <class Body>
  static int Behind(Sockets sockets, const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !InstallSyscallFilter(sockets)) _exit(99);
      _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
  }
  // errno, or 0 on success.
  template <class... Arguments>
  static int Call(long number, Arguments... arguments) {
    return syscall(number, arguments...) < 0 ? errno : 0;
  }
};

TEST_F(FilterTest, PreventsSignalsToTheDaemonAndToAllProcesses) {
  const pid_t daemon = getpid(), group = getpgid(0);
  for (const pid_t process : {pid_t{-1}, pid_t{1}, daemon, -group}) {
    EXPECT_EQ(Behind(Sockets::kDenied, [&] { return Call(SYS_kill, process, 0); }), EPERM) << process;
  }
  EXPECT_EQ(Behind(Sockets::kDenied, [&] { return Call(SYS_tkill, daemon, 0); }), EPERM);
  EXPECT_EQ(Behind(Sockets::kDenied, [&] { return Call(SYS_tgkill, daemon, daemon, 0); }), EPERM);
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  EXPECT_EQ(Behind(Sockets::kDenied, [&] { return Call(SYS_rt_sigqueueinfo, daemon, 0, &info); }), EPERM);
  EXPECT_EQ(Behind(Sockets::kDenied, [&] { return Call(434, daemon, 0); }), EPERM) << "pidfd_open";
  EXPECT_EQ(Behind(Sockets::kDenied, [] { return Call(SYS_kill, getpid(), 0); }), 0);
  EXPECT_EQ(Behind(Sockets::kAllowed, [&] { return Call(SYS_kill, daemon, 0); }), 0);
}

TEST_F(FilterTest, PreventsDatagramsToSocketsOfOthers) {
  const auto pair = [](int kind) {
    return [kind] {
      int ends[2];
      return Call(SYS_socketpair, AF_UNIX, kind, 0, ends);
    };
  };
  for (const int kind : {int{SOCK_DGRAM}, SOCK_DGRAM | SOCK_CLOEXEC, SOCK_RAW | SOCK_NONBLOCK}) {
    EXPECT_EQ(Behind(Sockets::kDenied, pair(kind)), EPERM) << kind;
  }
  for (const int kind : {int{SOCK_STREAM}, SOCK_STREAM | SOCK_CLOEXEC, int{SOCK_SEQPACKET}}) {
    EXPECT_EQ(Behind(Sockets::kDenied, pair(kind)), 0) << kind;
  }
  EXPECT_EQ(Behind(Sockets::kAllowed, pair(SOCK_DGRAM)), 0);
}

TEST_F(FilterTest, RefusesEveryCallThatSetsAttributes) {
  for (const long number : {463L, 466L, 469L}) {  // setxattrat, removexattrat, file_setattr
    EXPECT_EQ(Behind(Sockets::kDenied, [&] { return Call(number, -1, "", 0, "", nullptr, 0); }), EPERM) << number;
  }
}

TEST_F(LauncherTest, ReportsWhatToDoWithoutAnySandbox) {
  SandboxOptions options = View({});
  options.confine = {"/nonexistent/program"};
  const EnvironmentVariable programs("PATH", "/nonexistent");
  const LauncherChoice choice = DefaultLauncher(options);
  EXPECT_TRUE(choice.argv.empty());
  EXPECT_EQ(choice.used, kNoSandbox);
  EXPECT_THAT(choice.why, AllOf(HasSubstr("bwrap is not installed"), HasSubstr("apt-get install bubblewrap")));
}

// An interpreter below the home directory, an environment made from it, and a link to that.
TEST_F(LauncherTest, ShowsAnInterpreterWithTheEnvironmentsItIsLinkedTo) {
  const std::string python = "/usr/bin/python3";
  std::error_code error;
  const fs::path real = fs::canonical(python, error);
  const std::string name = real.filename();
  if (error || !fs::exists("/usr/lib/" + name)) GTEST_SKIP() << "no " << python << " with its library in /usr/lib";
  fs::create_directories(folder_ + "/home/.pyenv/bin"), fs::create_directories(folder_ + "/home/.pyenv/lib");
  fs::copy_file(real, folder_ + "/home/.pyenv/bin/" + name);
  fs::create_symlink("/usr/lib/" + name, folder_ + "/home/.pyenv/lib/" + name);
  Make("env/pyvenv.cfg", "home = " + folder_ + "/home/.pyenv/bin\n");
  fs::create_directories(folder_ + "/env/bin"), fs::create_directories(folder_ + "/env/lib/" + name + "/site-packages");
  fs::create_symlink(folder_ + "/home/.pyenv/bin/" + name, folder_ + "/env/bin/python");
  fs::create_symlink("env", folder_ + "/link");
  const EnvironmentVariable home("HOME", folder_ + "/home");
  SandboxOptions options = View({});
  options.worker = {folder_ + "/link/bin/python"};
  const LauncherChoice choice = DefaultLauncher(options);
  if (choice.argv.empty()) GTEST_SKIP() << choice.why;
  EXPECT_EQ(Inside(choice, choice.program + " -c 'import sys, ctypes; print(sys.prefix, sys.base_prefix)'"),
            folder_ + "/link " + folder_ + "/home/.pyenv\n");
}

}  // namespace
}  // namespace breakwatch::capture
