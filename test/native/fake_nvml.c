/*
 * A stand-in for NVIDIA's management library, played by a script: the file nvml.control beside it, read at each call.
 *
 *   device BUS_ID NAME WITH_BLANKS AS _         a device, in the order of their indexes
 *   BUS_ID FUNCTION VALUE                       a function's value for it (utilization, temperature, power, fan,
 *                                               clock, used, total, reserved)
 *   fail FUNCTION CODE                          FUNCTION (its full name) returns CODE
 *   fail FUNCTION@BUS_ID CODE                   the same for one device only
 *   hang FUNCTION                               FUNCTION does not return until the script no longer says so
 *
 * Each call is a line in nvml.calls beside it. A function that -DWITHOUT_NAME leaves out is not there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_DEVICES 8

enum { SUCCESS = 0, UNINITIALIZED = 1, NOT_FOUND = 6, NO_VALUE = 3 };

static int initialized;
/* Handles belong to one session, like the real ones: an old one is refused. */
static unsigned long session;
struct handle {
  unsigned long session;
  char bus[32];
};
static struct handle handles[4096];
static unsigned handle_count;

static void path_of(const char *name, char *path, size_t size) {
  Dl_info info;
  char *slash;
  if (!dladdr((void *)&path_of, &info)) abort();
  snprintf(path, size, "%s", info.dli_fname);
  slash = strrchr(path, '/');
  if (!slash) abort();
  snprintf(slash + 1, size - (size_t)(slash + 1 - path), "%s", name);
}

static FILE *open_script(void) {
  char path[4096];
  path_of("nvml.control", path, sizeof path);
  return fopen(path, "r");
}

/* The first word after the words `first` and `second` in a line of the script; 0 where there is none. */
static int find(const char *first, const char *second, char *value, size_t size) {
  FILE *script = open_script();
  char line[512];
  int found = 0;
  if (!script) return 0;
  while (!found && fgets(line, sizeof line, script)) {
    char a[128], b[128], c[128];
    int words = sscanf(line, "%127s %127s %127s", a, b, c);
    if (words < 2 || strcmp(a, first) || strcmp(b, second)) continue;
    found = 1;
    snprintf(value, size, "%s", words == 3 ? c : "");
  }
  fclose(script);
  return found;
}

static int device_at(unsigned index, char *bus, size_t size) {
  FILE *script = open_script();
  char line[512];
  int found = 0;
  if (!script) return 0;
  while (!found && fgets(line, sizeof line, script)) {
    char a[128], b[128];
    if (sscanf(line, "%127s %127s", a, b) != 2 || strcmp(a, "device")) continue;
    if (index-- == 0) {
      snprintf(bus, size, "%s", b);
      found = 1;
    }
  }
  fclose(script);
  return found;
}

/* The test creates the file: when the test has ended it is gone, and nothing may be created in its folder. */
static void note(const char *function, const char *bus) {
  char path[4096], line[256];
  int calls, length;
  path_of("nvml.calls", path, sizeof path);
  calls = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (calls < 0) return;
  length = snprintf(line, sizeof line, "%s %s\n", function, bus);
  if (write(calls, line, (size_t)length) != length) abort();
  close(calls);
}

/* From fail_nth.c where that is preloaded: the code of a function that is to fail now, otherwise 0. */
extern int fail_nth_nvml(const char *function) __attribute__((weak, visibility("default")));

/* Notes the call, hangs if the script says so, and returns the code that the script has for it. */
static int begin(const char *function, const char *bus) {
  char value[128], both[256];
  note(function, bus);
  if (fail_nth_nvml) {
    int code = fail_nth_nvml(function);
    if (code != SUCCESS) return code;
  }
  while (find("hang", function, value, sizeof value)) usleep(5000);
  snprintf(both, sizeof both, "%s@%s", function, bus);
  if (find("fail", both, value, sizeof value)) return atoi(value);
  if (find("fail", function, value, sizeof value)) return atoi(value);
  return SUCCESS;
}

static int begin_with(const char *function, const struct handle *handle) {
  int code = begin(function, handle->bus);
  if (code != SUCCESS) return code;
  return initialized && handle->session == session ? SUCCESS : UNINITIALIZED;
}

static int number_of(const struct handle *handle, const char *key, unsigned long long *number) {
  char value[128];
  if (!find(handle->bus, key, value, sizeof value)) return NO_VALUE;
  *number = strtoull(value, NULL, 10);
  return SUCCESS;
}

static int answer(const char *function, const struct handle *handle, const char *key, unsigned *number) {
  unsigned long long found;
  int code = begin_with(function, handle);
  if (code == SUCCESS) code = number_of(handle, key, &found);
  if (code == SUCCESS) *number = (unsigned)found;
  return code;
}

EXPORT int nvmlInit_v2(void) {
  int code = begin("nvmlInit_v2", "-");
  if (code != SUCCESS) return code;
  initialized++;
  session++;
  return SUCCESS;
}

EXPORT int nvmlShutdown(void) {
  int code = begin("nvmlShutdown", "-");
  if (initialized == 0) return UNINITIALIZED;
  initialized--;
  return code;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
  char bus[128];
  int code = begin("nvmlDeviceGetCount_v2", "-");
  if (code != SUCCESS) return code;
  for (*count = 0; *count < MAX_DEVICES && device_at(*count, bus, sizeof bus); ++*count) continue;
  return SUCCESS;
}

static int open_handle(const char *bus, struct handle **handle) {
  if (handle_count == sizeof handles / sizeof *handles) abort();
  *handle = &handles[handle_count++];
  (*handle)->session = session;
  snprintf((*handle)->bus, sizeof(*handle)->bus, "%s", bus);
  return SUCCESS;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct handle **handle) {
  char bus[128] = "-";
  int is_known = device_at(index, bus, sizeof bus);
  int code = begin("nvmlDeviceGetHandleByIndex_v2", bus);
  if (code != SUCCESS) return code;
  return is_known ? open_handle(bus, handle) : NOT_FOUND;
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *wanted, struct handle **handle) {
  char bus[128];
  int code = begin("nvmlDeviceGetHandleByPciBusId_v2", wanted);
  if (code != SUCCESS) return code;
  for (unsigned i = 0; device_at(i, bus, sizeof bus); i++)
    if (!strcmp(bus, wanted)) return open_handle(bus, handle);
  return NOT_FOUND;
}

EXPORT int nvmlDeviceGetName(struct handle *handle, char *name, unsigned size) {
  char value[128];
  int code = begin_with("nvmlDeviceGetName", handle);
  if (code != SUCCESS) return code;
  if (!find("device", handle->bus, value, sizeof value)) return NOT_FOUND;
  for (char *c = value; *c; c++)
    if (*c == '_') *c = ' ';
  if (strlen(value) >= size) return 7;
  strcpy(name, value);
  return SUCCESS;
}

#ifndef WITHOUT_PCI_INFO
struct pci_info {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

EXPORT int nvmlDeviceGetPciInfo_v3(struct handle *handle, struct pci_info *info) {
  int code = begin_with("nvmlDeviceGetPciInfo_v3", handle);
  if (code != SUCCESS) return code;
  memset(info, 0, sizeof *info);
  snprintf(info->bus_id, sizeof info->bus_id, "0000%.27s", handle->bus);
  for (char *c = info->bus_id; *c; c++)
    if (*c >= 'a' && *c <= 'f') *c = (char)(*c - 'a' + 'A');
  return SUCCESS;
}
#endif

struct utilization {
  unsigned gpu, memory;
};

EXPORT int nvmlDeviceGetUtilizationRates(struct handle *handle, struct utilization *found) {
  found->memory = 0;
  return answer("nvmlDeviceGetUtilizationRates", handle, "utilization", &found->gpu);
}

EXPORT int nvmlDeviceGetTemperature(struct handle *handle, unsigned sensor, unsigned *found) {
  return sensor == 0 ? answer("nvmlDeviceGetTemperature", handle, "temperature", found) : 2;
}

EXPORT int nvmlDeviceGetPowerUsage(struct handle *handle, unsigned *found) {
  return answer("nvmlDeviceGetPowerUsage", handle, "power", found);
}

EXPORT int nvmlDeviceGetFanSpeed(struct handle *handle, unsigned *found) {
  return answer("nvmlDeviceGetFanSpeed", handle, "fan", found);
}

EXPORT int nvmlDeviceGetClockInfo(struct handle *handle, unsigned type, unsigned *found) {
  return type == 0 ? answer("nvmlDeviceGetClockInfo", handle, "clock", found) : 2;
}

static int memory_of(const struct handle *handle, unsigned long long *used, unsigned long long *reserved,
                     unsigned long long *total) {
  int code = number_of(handle, "used", used);
  if (code == SUCCESS) code = number_of(handle, "total", total);
  if (code == SUCCESS && number_of(handle, "reserved", reserved) != SUCCESS) *reserved = 0;
  return code;
}

struct memory {
  unsigned long long total, free, used;
};

/* The old version: memory that the driver reserves counts as used. */
EXPORT int nvmlDeviceGetMemoryInfo(struct handle *handle, struct memory *memory) {
  unsigned long long reserved = 0;
  int code = begin_with("nvmlDeviceGetMemoryInfo", handle);
  if (code == SUCCESS) code = memory_of(handle, &memory->used, &reserved, &memory->total);
  if (code != SUCCESS) return code;
  memory->used += reserved;
  memory->free = memory->total - memory->used;
  return SUCCESS;
}

#ifndef WITHOUT_MEMORY_V2
struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

EXPORT int nvmlDeviceGetMemoryInfo_v2(struct handle *handle, struct memory_v2 *memory) {
  int code = begin_with("nvmlDeviceGetMemoryInfo_v2", handle);
  if (code != SUCCESS) return code;
  /* Forty bytes, version 2: the documentation's nvmlMemory_v2. */
  if (memory->version != (40U | 2U << 24)) return 25;
  code = memory_of(handle, &memory->used, &memory->reserved, &memory->total);
  if (code == SUCCESS) memory->free = memory->total - memory->used - memory->reserved;
  return code;
}
#endif
