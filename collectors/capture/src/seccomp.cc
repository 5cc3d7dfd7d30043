#include "seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace breakwatch::capture {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // this machine is not supported
#endif

// Numbers from here on are x32 calls, which duplicate every call of the table.
constexpr std::uint32_t kX32 = 0x40000000;
// These numbers are the same on every architecture. Headers of older systems lack some.
constexpr std::uint32_t kOpenTree = 428, kMoveMount = 429, kFsopen = 430, kFsconfig = 431, kFsmount = 432,
                        kFspick = 433, kIoUringSetup = 425, kIoUringEnter = 426, kIoUringRegister = 427, kClone3 = 435,
                        kPidfdGetfd = 438, kMountSetattr = 442, kFchmodat2 = 452, kMemfdSecret = 447,
                        kOpenTreeAttr = 467, kPidfdOpen = 434, kSetxattrat = 463, kRemovexattrat = 466,
                        kFileSetattr = 469;
constexpr std::uint32_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// Mounts, namespaces, other processes, the kernel itself.
constexpr std::uint32_t kDenied[] = {
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    kOpenTree,
    kMoveMount,
    kFsopen,
    kFsconfig,
    kFsmount,
    kFspick,
    kMountSetattr,
    kOpenTreeAttr,
    SYS_unshare,
    SYS_setns,
    SYS_ptrace,
    SYS_kcmp,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    kPidfdGetfd,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_acct,
    SYS_quotactl,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_vhangup,
    SYS_fanotify_init,
    SYS_shmget,
    SYS_msgget,
    kMemfdSecret,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};

// Unmapped memory is not charged to any process. Programs fall back to other calls if these are missing.
constexpr std::uint32_t kUnknown[] = {SYS_memfd_create, kIoUringSetup, kIoUringEnter, kIoUringRegister, kClone3};

// Landlock does not restrict the owner and the attributes of hidden files.
constexpr std::uint32_t kAttributes[] = {
    SYS_fchown,       SYS_fchownat,     SYS_setxattr, SYS_lsetxattr,  SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr, kSetxattrat,  kRemovexattrat, kFileSetattr,
#if defined(__x86_64__)
    SYS_chown,        SYS_lchown,
#endif
};
// The same, for calls that programs expect to succeed on their own files: they do nothing and report success.
constexpr std::uint32_t kWithoutEffect[] = {
    SYS_fchmod, SYS_fchmodat, kFchmodat2, SYS_utimensat,
#if defined(__x86_64__)
    SYS_chmod,  SYS_utime,    SYS_utimes, SYS_futimesat,
#endif
};

// The first argument is the process to signal. Landlock restricts signals only since version 6.
constexpr std::uint32_t kSignals[] = {SYS_kill,  SYS_tgkill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
                                      kPidfdOpen};

// Processes that a capture may not signal: all, the system's first process, the daemon, and the daemon's group.
std::vector<std::uint32_t> NotToSignal() {
  std::vector<std::uint32_t> processes = {static_cast<std::uint32_t>(-1), 1};
  const pid_t daemon = getppid();
  if (daemon <= 1) return processes;  // it has ended, or is in another namespace
  processes.push_back(static_cast<std::uint32_t>(daemon));
  if (const pid_t group = getpgid(daemon); group > 1) processes.push_back(static_cast<std::uint32_t>(-group));
  return processes;
}

// The type bits of a socket's second argument; higher bits are flags.
constexpr std::uint32_t kSocketKind = 0xf;

class Program {
 public:
  void Load(std::size_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void Return(std::uint32_t action) { Add(BPF_RET | BPF_K, action); }
  // If the loaded word is `value`, returns `action`.
  void Answer(std::uint32_t value, std::uint32_t action) { AnswerWhere(BPF_JEQ, value, action); }
  void AnswerWhere(int test, std::uint32_t value, std::uint32_t action) {
    Jump(test, value, 0, 1);
    Return(action);
  }
  void Jump(int test, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    code_.push_back(BPF_JUMP(static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), value, yes, no));
  }
  // The loaded word is the call's number. If it is `call`, and `argument` masked by `mask` is one of `values`, returns
  // `action`.
  void AnswerArgument(std::uint32_t call, std::size_t argument, std::uint32_t mask,
                      const std::vector<std::uint32_t>& values, std::uint32_t action) {
    Jump(BPF_JEQ, call, 0, static_cast<std::uint8_t>(3 + 2 * values.size()));
    LoadArgument(argument);
    Add(BPF_ALU | BPF_AND | BPF_K, mask);
    AnswerAll(values, action);
    Return(SECCOMP_RET_ALLOW);
  }
  // Loads the low word: both supported machines are little-endian.
  void LoadArgument(std::size_t argument) {
    Load(offsetof(seccomp_data, args) + argument * sizeof(seccomp_data::args[0]));
  }
  template <class Numbers>
  void AnswerAll(const Numbers& numbers, std::uint32_t action) {
    for (const std::uint32_t number : numbers) Answer(number, action);
  }
  Result<void> Install() {
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0) return {};
    return Error{ErrorCode::kUnavailable,
                 "the kernel rejects the system call filter: " + std::string(std::strerror(errno))};
  }

 private:
  void Add(int code, std::uint32_t value) { code_.push_back(BPF_STMT(static_cast<std::uint16_t>(code), value)); }

  std::vector<sock_filter> code_;
};

}  // namespace

Result<void> InstallSyscallFilter(Sockets sockets) {
  if (kArchitecture == 0) return Error{ErrorCode::kUnavailable, "no system call filter for this architecture"};
  constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM, kNoSuchCall = SECCOMP_RET_ERRNO | ENOSYS;
  Program program;
  program.Load(offsetof(seccomp_data, arch));
  program.Jump(BPF_JEQ, kArchitecture, 1, 0);
  program.Return(SECCOMP_RET_KILL_PROCESS);
  program.Load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  program.AnswerWhere(BPF_JGE, kX32, kNoSuchCall);
#endif
  program.AnswerAll(kDenied, kRefuse);
  program.AnswerAll(kUnknown, kNoSuchCall);  // clone3's flags are in memory, which a filter cannot read
  if (sockets == Sockets::kDenied) {
    program.Answer(SYS_socket, kRefuse);
    program.AnswerAll(kAttributes, kRefuse);
    program.AnswerAll(kWithoutEffect, SECCOMP_RET_ERRNO | 0);
    // A datagram socket of a pair can send to any socket that has a path. For socketpair, SOCK_RAW means SOCK_DGRAM.
    program.AnswerArgument(SYS_socketpair, 1, kSocketKind, {SOCK_DGRAM, SOCK_RAW}, kRefuse);
    const std::vector<std::uint32_t> processes = NotToSignal();
    for (const std::uint32_t call : kSignals) program.AnswerArgument(call, 0, ~0u, processes, kRefuse);
  }
  program.Jump(BPF_JEQ, SYS_clone, 0, 3);
  program.LoadArgument(0);
  program.AnswerWhere(BPF_JSET, kNamespaces, kRefuse);
  program.Return(SECCOMP_RET_ALLOW);
  return program.Install();
}

}  // namespace breakwatch::capture
