// FUSE filesystems that hang, for tests of code that must not wait for them.
//
//   hung_mount FOLDER…
//
// Mounts one filesystem at each folder (type "fuse.hang", source "hang0", "hang1", …) and serves them all. At first
// no request is answered. It prints "mounted", then reads commands from standard input, one per line, and prints "done"
// after each:
//   answer   answers all requests, pending ones too: an empty folder, 1,000 blocks of 4 KiB, 250 of them free
//   hang     stops reading requests
// It ends, and with it the filesystems, when standard input ends.
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_MOUNTS = 128, BUFFER_BYTES = 1 << 20 };

static char request[BUFFER_BYTES];

static void fail(const char *what, const char *on) {
  fprintf(stderr, "%s %s: %s\n", what, on, strerror(errno));
  exit(1);
}

static int mountAt(const char *folder, int number) {
  const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail("open", "/dev/fuse");
  char source[32];
  char options[128];
  snprintf(source, sizeof source, "hang%d", number);
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", fd, getuid(), getgid());
  if (mount(source, folder, "fuse.hang", MS_NOSUID | MS_NODEV, options) != 0) fail("mount", folder);
  return fd;
}

static void reply(int fd, const struct fuse_in_header *to, int error, const void *body, size_t bytes) {
  struct fuse_out_header header = {(uint32_t)(sizeof header + bytes), error, to->unique};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)body, bytes}};
  // ENOENT: the request was cancelled in the meantime; nothing to do.
  if (writev(fd, parts, bytes > 0 ? 2 : 1) < 0 && errno != ENOENT) perror("reply");
}

static void replyToInit(int fd, const struct fuse_in_header *to, const struct fuse_init_in *asked) {
  struct fuse_init_out out;
  memset(&out, 0, sizeof out);
  out.major = FUSE_KERNEL_VERSION;
  out.minor = FUSE_KERNEL_MINOR_VERSION;
  out.max_readahead = asked->max_readahead;
  out.max_background = 16;
  out.congestion_threshold = 12;
  out.max_write = 4096;
  reply(fd, to, 0, &out, sizeof out);
}

static void replyToGetattr(int fd, const struct fuse_in_header *to) {
  struct fuse_attr_out out;
  memset(&out, 0, sizeof out);
  out.attr.ino = FUSE_ROOT_ID;
  out.attr.mode = S_IFDIR | 0755;
  out.attr.nlink = 2;
  out.attr.blksize = 4096;
  reply(fd, to, 0, &out, sizeof out);
}

static void replyToStatfs(int fd, const struct fuse_in_header *to) {
  struct fuse_statfs_out out;
  memset(&out, 0, sizeof out);
  out.st.blocks = 1000;
  out.st.bfree = 250;
  out.st.bavail = 200;
  out.st.bsize = 4096;
  out.st.frsize = 4096;
  out.st.namelen = 255;
  reply(fd, to, 0, &out, sizeof out);
}

static void answerOne(int fd) {
  const ssize_t length = read(fd, request, sizeof request);
  if (length < (ssize_t)sizeof(struct fuse_in_header)) return;
  const struct fuse_in_header *header = (const struct fuse_in_header *)request;
  switch (header->opcode) {
    case FUSE_INIT:
      replyToInit(fd, header, (const struct fuse_init_in *)(header + 1));
      break;
    case FUSE_GETATTR:
      replyToGetattr(fd, header);
      break;
    case FUSE_STATFS:
      replyToStatfs(fd, header);
      break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
      break;
    default:
      reply(fd, header, -ENOSYS, NULL, 0);
  }
}

static int obey(int isAnswering) {
  char line[64];
  if (fgets(line, sizeof line, stdin) == NULL) exit(0);
  if (strcmp(line, "answer\n") == 0) isAnswering = 1;
  if (strcmp(line, "hang\n") == 0) isAnswering = 0;
  puts("done");
  return isAnswering;
}

int main(int count, char **folders) {
  if (count < 2 || count > MAX_MOUNTS) return 2;
  struct pollfd waits[MAX_MOUNTS];
  setvbuf(stdout, NULL, _IOLBF, 0);
  setvbuf(stdin, NULL, _IONBF, 0);
  waits[0].fd = STDIN_FILENO;
  waits[0].events = POLLIN;
  for (int i = 1; i < count; ++i) {
    waits[i].fd = mountAt(folders[i], i - 1);
    waits[i].events = POLLIN;
  }
  puts("mounted");
  int isAnswering = 0;
  while (1) {
    if (poll(waits, (nfds_t)(isAnswering ? count : 1), -1) < 0) fail("poll", "");
    if (waits[0].revents != 0) isAnswering = obey(isAnswering);
    for (int i = 1; isAnswering && i < count; ++i)
      if ((waits[i].revents & POLLIN) != 0) answerOne(waits[i].fd);
  }
}
