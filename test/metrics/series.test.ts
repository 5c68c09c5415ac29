/** Every family that is made of counters, with the value of a machine of literals. */
import t from 'tap';
import { deviceFamilies } from '#src/exporters/prometheus/devices.js';
import { writeFamily } from '#src/exporters/prometheus/exposition.js';
import { platformFamilies } from '#src/exporters/prometheus/platform.js';
import { fixtureHost } from '../helpers/fakes/host.ts';

const WANTED = `
node_filesystem_size_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 107374182400
node_filesystem_free_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 64424509440
node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 59055800320
node_filesystem_readonly{device="/dev/sda1",fstype="ext4",mountpoint="/"} 0
node_filesystem_readonly{device="srv:/x",fstype="nfs4",mountpoint="/never-answered"} 0
node_filesystem_device_error{device="/dev/sda1",fstype="ext4",mountpoint="/"} 0
node_filesystem_device_error{device="srv:/x",fstype="nfs4",mountpoint="/never-answered"} 1
node_power_supply_capacity{power_supply="BAT0"} 80
node_power_supply_energy_watthour{power_supply="BAT0"} 40
node_power_supply_energy_full{power_supply="BAT0"} 50
node_power_supply_energy_full_design{power_supply="BAT0"} 57
node_power_supply_voltage_volt{power_supply="BAT0"} 11.5
node_power_supply_power_watt{power_supply="BAT0"} 10
hostwire_gpu_load_ratio{gpu="0",name="Fixture",vendor="ACME"} 0.1234
hostwire_gpu_temperature_celsius{gpu="0",name="Fixture",vendor="ACME"} 40
hostwire_gpu_memory_used_bytes{gpu="0",name="Fixture",vendor="ACME"} 536870912
hostwire_gpu_memory_size_bytes{gpu="0",name="Fixture",vendor="ACME"} 8589934592
hostwire_gpu_power_watts{gpu="0",name="Fixture",vendor="ACME"} 30
hostwire_gpu_fan_ratio{gpu="0",name="Fixture",vendor="ACME"} 0.2
hostwire_gpu_clock_hertz{gpu="0",name="Fixture",vendor="ACME"} 900000000
hostwire_gpu_asleep{gpu="0",name="Fixture",vendor="ACME"} 0
hostwire_cpu_temperature_celsius 51.26
hostwire_cpu_speed_hertz 3400000000
node_time_seconds 1000000000
node_boot_time_seconds 999999000
node_cpu_seconds_total{cpu="0",mode="user"} 0.00001
node_cpu_seconds_total{cpu="0",mode="system"} 0.000005
node_cpu_seconds_total{cpu="0",mode="idle"} 0.00008
node_cpu_seconds_total{cpu="0",mode="irq"} 5e-7
node_memory_MemTotal_bytes 17179869184
node_memory_MemAvailable_bytes 4294967296
node_memory_Cached_bytes 1073741824
node_memory_SwapTotal_bytes 0
node_memory_SwapFree_bytes 0
node_network_receive_bytes_total{device="eth0"} 5000
node_network_receive_packets_total{device="eth0"} 50
node_network_receive_errs_total{device="eth0"} 0
node_network_receive_drop_total{device="eth0"} 0
node_network_transmit_bytes_total{device="eth0"} 3000
node_network_transmit_packets_total{device="eth0"} 30
node_network_transmit_errs_total{device="eth0"} 0
node_network_transmit_drop_total{device="eth0"} 0
node_uname_info{domainname="(none)",sysname="s",hostname="h",release="r",version="v",machine="m",nodename="h"} 1
`;

t.test('[3.metrics-names] every series of a machine, in their order', async (t) => {
  const counters = { ...fixtureHost().readCounters(31, true, 0), unixMs: 1e12, sinceBootNs: 1e12 };
  const names = { sysname: 's', hostname: 'h', release: 'r', version: 'v', machine: 'm', nodename: 'h' };
  const text = [...deviceFamilies(counters), ...platformFamilies(counters, names)].map(writeFamily).join('');
  t.strictSame(
    text.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    [...WANTED.trim().split('\n')],
  );
});
