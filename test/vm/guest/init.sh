#!/bin/busybox sh
# The first program of the virtual machine: loads the driver of its disk, mounts it and hands over to systemd there.
/bin/busybox mkdir -p /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in virtio_pci virtio_blk crc32c_generic ext4; do modprobe "$module"; done
while [ ! -b /dev/vda ]; do sleep 0.1; done
mount -t ext4 -o ro /dev/vda /root
for folder in dev proc sys; do mount --move "/$folder" "/root/$folder"; done
exec switch_root /root /sbin/init
