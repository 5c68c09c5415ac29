// refuse_io_uring ERRNO COMMAND…: runs a command for which the kernel refuses io_uring_setup(2) with that
// number, as the seccomp filters of containers do (EPERM) or a kernel before 5.1 (ENOSYS).
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define IO_URING_SETUP 425

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const unsigned refusal = SECCOMP_RET_ERRNO | ((unsigned)atoi(argv[1]) & SECCOMP_RET_DATA);
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IO_URING_SETUP, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refusal),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    perror("prctl");
    return 3;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 4;
}
