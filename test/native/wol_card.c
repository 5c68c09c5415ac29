/*
 * Preloaded into a program: the drivers of network cards answer ETHTOOL_GWOL as their names say.
 *   magic*  can wait for everything, and waits for its link and the magic packet
 *   off*    can wait for the magic packet, and waits for nothing
 *   root*   answers only to root       none*  has no Wake-on-LAN
 *   hang*   does not answer            asked* ends the program: it must not be asked
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is(const struct ifreq* request, const char* prefix) {
  return strncmp(request->ifr_name, prefix, strlen(prefix)) == 0;
}

static int refuse(int code) {
  errno = code;
  return -1;
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long question, ...) {
  va_list arguments;
  va_start(arguments, question);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (question != SIOCETHTOOL) return (int)syscall(SYS_ioctl, fd, question, argument);
  const struct ifreq* request = argument;
  struct ethtool_wolinfo* info = (struct ethtool_wolinfo*)request->ifr_data;
  if (info->cmd != ETHTOOL_GWOL || is(request, "asked")) abort();
  if (is(request, "root")) return refuse(EPERM);
  if (is(request, "none")) return refuse(EOPNOTSUPP);
  while (is(request, "hang")) pause();
  if (!is(request, "magic") && !is(request, "off")) return refuse(ENODEV);
  info->supported = is(request, "magic") ? 0xff : WAKE_MAGIC;
  info->wolopts = is(request, "magic") ? WAKE_PHY | WAKE_MAGIC : 0;
  return 0;
}
