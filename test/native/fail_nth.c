/*
 * Preloaded into a Node process: makes the Nth fallible call of the addon fail, once. The file
 * HOSTWIRE_FAIL_CONTROL is mapped and says which call; the process under test writes it.
 *
 * Only calls that return into hostwire.node count, and those of the fake NVML: Node's own calls are
 * left alone.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum { CALL = 1, ALLOCATION = 2 };

/* test/helpers/machine/fail-control.ts writes the same. */
struct control {
  _Atomic int64_t nth;      /* 0: none fails, and none is counted */
  _Atomic int64_t count;    /* calls so far */
  _Atomic int64_t error;    /* errno of the one that fails */
  _Atomic int64_t shift_ns; /* how far the addon's clocks are ahead */
  _Atomic int64_t kind;
  char what[216]; /* the call that failed */
};

struct range {
  const char* name;
  uintptr_t begin, end;
};

static struct control* control;
static struct range addon = {"hostwire.node", 0, 0};
static struct range runtime = {"libstdc++.so", 0, 0};

extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak, noreturn));

__attribute__((constructor)) static void map_control(void) {
  const char* path = getenv("HOSTWIRE_FAIL_CONTROL");
  int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  void* mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  if (mapped != MAP_FAILED) control = mapped;
}

static int note_range(struct dl_phdr_info* info, size_t size, void* wanted) {
  struct range* range = wanted;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  (void)size;
  if (!strstr(info->dlpi_name, range->name)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    uintptr_t from = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD) continue;
    if (from < begin) begin = from;
    if (from + part->p_memsz > end) end = from + part->p_memsz;
  }
  range->end = end;
  range->begin = begin;
  return 1;
}

static int is_within(struct range* range, const void* caller) {
  uintptr_t at = (uintptr_t)caller;
  if (range->begin == 0) dl_iterate_phdr(note_range, range);
  return range->begin != 0 && at >= range->begin && at < range->end;
}

/* The errno that this call fails with; 0: the call goes through. */
static int fails(const void* caller, int kind, const char* name, const char* subject) {
  int64_t nth = control ? atomic_load(&control->nth) : 0;
  if (nth == 0 || atomic_load(&control->kind) != kind) return 0;
  if (caller && !is_within(&addon, caller)) return 0;
  if (atomic_fetch_add(&control->count, 1) + 1 != nth) return 0;
  snprintf(control->what, sizeof control->what, "%s %s", name, subject ? subject : "");
  return (int)atomic_load(&control->error);
}

static void* find_next(void* volatile* slot, const char* name) {
  if (!*slot) *slot = dlsym(RTLD_NEXT, name);
  if (!*slot) abort();
  return *slot;
}

#define REAL(type, name, ...) \
  static void* volatile slot; \
  type (*real)(__VA_ARGS__) = (type(*)(__VA_ARGS__))find_next(&slot, name)

/* Fails as most calls do: -1 and errno. */
#define FAIL_OR(name, subject, through)            \
  do {                                             \
    int code = fails(CALLER, CALL, name, subject); \
    if (code == 0) return through;                 \
    errno = code;                                  \
    return -1;                                     \
  } while (0)

EXPORT int open(const char* path, int flags, ...) {
  REAL(int, "open", const char*, int, ...);
  mode_t mode = 0;
  va_list rest;
  va_start(rest, flags);
  if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(rest, mode_t);
  va_end(rest);
  FAIL_OR("open", path, real(path, flags, mode));
}

EXPORT int openat(int folder, const char* path, int flags, ...) {
  REAL(int, "openat", int, const char*, int, ...);
  mode_t mode = 0;
  va_list rest;
  va_start(rest, flags);
  if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(rest, mode_t);
  va_end(rest);
  FAIL_OR("openat", path, real(folder, path, flags, mode));
}

EXPORT ssize_t read(int fd, void* buffer, size_t size) {
  REAL(ssize_t, "read", int, void*, size_t);
  FAIL_OR("read", NULL, real(fd, buffer, size));
}

EXPORT ssize_t pread(int fd, void* buffer, size_t size, off_t offset) {
  REAL(ssize_t, "pread", int, void*, size_t, off_t);
  FAIL_OR("pread", NULL, real(fd, buffer, size, offset));
}

EXPORT int stat(const char* restrict path, struct stat* restrict found) {
  REAL(int, "stat", const char*, struct stat*);
  FAIL_OR("stat", path, real(path, found));
}

EXPORT int lstat(const char* restrict path, struct stat* restrict found) {
  REAL(int, "lstat", const char*, struct stat*);
  FAIL_OR("lstat", path, real(path, found));
}

EXPORT int fstatat(int folder, const char* restrict path, struct stat* restrict found, int flags) {
  REAL(int, "fstatat", int, const char*, struct stat*, int);
  FAIL_OR("fstatat", path, real(folder, path, found, flags));
}

EXPORT int faccessat(int folder, const char* path, int mode, int flags) {
  REAL(int, "faccessat", int, const char*, int, int);
  FAIL_OR("faccessat", path, real(folder, path, mode, flags));
}

EXPORT int statvfs(const char* restrict path, struct statvfs* restrict found) {
  REAL(int, "statvfs", const char*, struct statvfs*);
  FAIL_OR("statvfs", path, real(path, found));
}

EXPORT int statfs(const char* path, struct statfs* found) {
  REAL(int, "statfs", const char*, struct statfs*);
  FAIL_OR("statfs", path, real(path, found));
}

EXPORT ssize_t readlink(const char* restrict path, char* restrict target, size_t size) {
  REAL(ssize_t, "readlink", const char*, char*, size_t);
  FAIL_OR("readlink", path, real(path, target, size));
}

EXPORT ssize_t readlinkat(int folder, const char* restrict path, char* restrict target, size_t size) {
  REAL(ssize_t, "readlinkat", int, const char*, char*, size_t);
  FAIL_OR("readlinkat", path, real(folder, path, target, size));
}

EXPORT int getifaddrs(struct ifaddrs** found) {
  REAL(int, "getifaddrs", struct ifaddrs**);
  FAIL_OR("getifaddrs", NULL, real(found));
}

EXPORT int gethostname(char* name, size_t size) {
  REAL(int, "gethostname", char*, size_t);
  FAIL_OR("gethostname", NULL, real(name, size));
}

EXPORT int poll(struct pollfd* waits, unsigned long count, int timeout) {
  REAL(int, "poll", struct pollfd*, unsigned long, int);
  FAIL_OR("poll", NULL, real(waits, count, timeout));
}

EXPORT int socket(int domain, int type, int protocol) {
  REAL(int, "socket", int, int, int);
  FAIL_OR("socket", NULL, real(domain, type, protocol));
}

EXPORT long syscall(long number, ...) {
  REAL(long, "syscall", long, ...);
  long given[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; i++) given[i] = va_arg(rest, long);
  va_end(rest);
  /* That of a lock, which has nothing to fail for. */
  if (number == SYS_futex) return real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  FAIL_OR("syscall", NULL, real(number, given[0], given[1], given[2], given[3], given[4], given[5]));
}

EXPORT DIR* opendir(const char* path) {
  REAL(DIR*, "opendir", const char*);
  int code = fails(CALLER, CALL, "opendir", path);
  if (code == 0) return real(path);
  errno = code;
  return NULL;
}

EXPORT struct dirent* readdir(DIR* folder) {
  REAL(struct dirent*, "readdir", DIR*);
  int code = fails(CALLER, CALL, "readdir", NULL);
  if (code == 0) return real(folder);
  errno = code;
  return NULL;
}

EXPORT int pthread_create(pthread_t* restrict thread, const pthread_attr_t* restrict attributes,
                          void* (*body)(void*), void* restrict argument) {
  REAL(int, "pthread_create", pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (fails(CALLER, CALL, "pthread_create", NULL) != 0) return EAGAIN;
  return real(thread, attributes, body, argument);
}

/* The last error of the loader is not changed: dlerror then has a meaningless text, or none. */
EXPORT void* dlopen(const char* path, int flags) {
  REAL(void*, "dlopen", const char*, int);
  if (fails(CALLER, CALL, "dlopen", path) != 0) return NULL;
  return real(path, flags);
}

/* Found by its version: dlsym cannot look up itself. */
EXPORT void* dlsym(void* restrict handle, const char* restrict name) {
  static void* (*volatile real)(void*, const char*);
  static const char* const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
  for (unsigned i = 0; real == NULL && i < sizeof versions / sizeof *versions; i++)
    real = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  if (fails(CALLER, CALL, "dlsym", name) != 0) return NULL;
  return real(handle, name);
}

/* operator new(std::size_t) */
EXPORT void* operator_new(size_t size) __asm__("_Znwm");
void* operator_new(size_t size) {
  REAL(void*, "_Znwm", size_t);
  if (fails(CALLER, ALLOCATION, "operator new", NULL) != 0 && throw_bad_alloc) throw_bad_alloc();
  return real(size);
}

/* Each function of the fake NVML asks here for the code to return. */
EXPORT int fail_nth_nvml(const char* function) {
  return fails(NULL, CALL, function, NULL) == 0 ? 0 : 999; /* NVML_ERROR_UNKNOWN */
}

/* A minute passes for the addon when the test says so; std::chrono's clocks are read inside libstdc++. */
EXPORT int clock_gettime(clockid_t clock, struct timespec* now) {
  REAL(int, "clock_gettime", clockid_t, struct timespec*);
  int64_t shift = control ? atomic_load(&control->shift_ns) : 0;
  int result = real(clock, now);
  if (shift == 0 || result != 0 || (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)) return result;
  if (is_within(&addon, CALLER) || is_within(&runtime, CALLER)) now->tv_sec += shift / 1000000000;
  return result;
}

EXPORT int pthread_cond_clockwait(pthread_cond_t* restrict changed, pthread_mutex_t* restrict mutex,
                                  clockid_t clock, const struct timespec* restrict until) {
  REAL(int, "pthread_cond_clockwait", pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  struct timespec shifted = *until;
  if (control && is_within(&addon, CALLER)) shifted.tv_sec -= atomic_load(&control->shift_ns) / 1000000000;
  return real(changed, mutex, clock, &shifted);
}
