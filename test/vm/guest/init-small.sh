#!/bin/busybox sh
# The first and only program of a small virtual machine: loads the drivers of its drives and runs what the test sends.
/bin/busybox mkdir -p /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in virtio_pci virtio_blk virtio_console nvme ahci sd_mod virtio_scsi; do modprobe "$module"; done
# A line in: a script in base64. A line out: its exit code, and what it printed, in base64.
while ! grep -q agent /sys/class/virtio-ports/*/name 2>/dev/null; do sleep 0.1; done
port=$(grep -l agent /sys/class/virtio-ports/*/name)
port=${port%/name}
exec 3<>"/dev/${port##*/}"
echo ready >&3
while read -r line <&3; do
  output=$(echo "$line" | base64 -d | sh 2>&1 3>&-)
  code=$?
  echo "$code $(echo "$output" | base64 -w 0)" >&3
done
