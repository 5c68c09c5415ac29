/** Drives in a virtual machine: the health of NVMe and ATA drives as qemu emulates them, and the rights to read it. */
import { truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { needProgram, programPath } from '../helpers/native/program.ts';
import { buildSmallImage } from './image.ts';
import { startMachine } from './rig.ts';
import { until } from './wait.ts';

t.setTimeout(600_000);
needProgram('read_drives');

/** As the program prints it. */
interface Drive {
  readonly name: string;
  readonly kind: string;
  readonly model: string;
  readonly health: Readonly<Record<string, unknown>> | null;
  readonly failure: string;
}

function emptyDisk(folder: string, name: string): string {
  const file = path.join(folder, `${name}.raw`);
  writeFileSync(file, '');
  truncateSync(file, 16 << 20);
  return `file=${file},format=raw,if=none,id=${name}`;
}

const started = Date.now();
const { image, vm } = await startMachine(t, 'drives', (folder) => {
  const disk = (name: string) => emptyDisk(folder, name);
  return buildSmallImage(folder, programPath('read_drives'), [
    ...['-drive', disk('solid'), '-device', 'nvme,drive=solid,serial=solid,id=solid0'],
    ...['-device', 'ahci,id=sata', '-drive', disk('disk'), '-device', 'ide-hd,drive=disk,bus=sata.0'],
    // Every ATA command that a disk is given, on standard error.
    ...['-trace', 'ide_exec_cmd'],
    ...['-device', 'virtio-scsi-pci', '-drive', disk('scsi'), '-device', 'scsi-hd,drive=scsi'],
  ]);
});
t.comment(`figure: up in ${Date.now() - started} ms under TCG, kernel ${image.version}`);

/** The drives by their kind; ROOT, or a user with a group and a mask of capabilities. */
async function drivesAs(...user: readonly (string | number)[]): Promise<Readonly<Record<string, Drive>>> {
  const { code, text } = await vm.run(`read_drives ${user.join(' ')}`);
  if (code !== 0) throw new Error(`read_drives: exit code ${code}: ${text}`);
  // Printed by the program above.
  const drives = text.split('\n').map((line) => JSON.parse(line) as Drive);
  return Object.fromEntries(drives.map((drive) => [drive.kind, drive]));
}

const USER = 1000;
const NO_GROUP = 65_534;
const DISK_GROUP = 6;
/** Bits of linux/capability.h. */
const SYS_RAWIO = 1 << 17;
const SYS_ADMIN = 1 << 21;
const hex = (mask: number) => mask.toString(16);

await until('all four drives are there', 60_000, async () =>
  (await vm.run('ls /sys/block')).text.match(/nvme0n1\nsda\nsdb\nvda/) ? true : undefined,
);
await vm.run(
  `chown 0:${DISK_GROUP} /dev/nvme0n1 /dev/sda /dev/sdb; chmod 660 /dev/nvme0n1 /dev/sda /dev/sdb`,
);

t.test('root reads the health of NVMe and ATA drives', async (t) => {
  const { nvme, ata, scsi, other } = await drivesAs();
  t.match(nvme, { name: 'nvme0n1', model: /^QEMU NVMe Ctrl$/, failure: '' });
  t.strictSame(nvme?.health, {
    isPassing: true,
    percentageUsed: 0,
    powerOnHours: 0,
    temperatureCelsius: 50,
    mediaErrors: 0,
  });
  t.match(ata, { model: 'QEMU HARDDISK', failure: '' });
  // The attributes that qemu's disk has: 9 with 1 hour, 190 with 31 °C; neither 187 nor Device Statistics.
  t.strictSame(ata?.health, {
    isPassing: true,
    percentageUsed: null,
    powerOnHours: 1,
    temperatureCelsius: 31,
    mediaErrors: null,
  });
  t.match(scsi, { health: null, failure: 'health is read from NVMe and ATA drives only' });
  t.match(other, { name: 'vda', health: null, failure: 'a virtual disk has no health' });
});

t.test('a drive that expects to fail says so', async (t) => {
  const warn = (value: number) =>
    vm.send('qom-set', { path: '/machine/peripheral/solid0', property: 'smart_critical_warning', value });
  warn(4);
  t.equal((await drivesAs())['nvme']?.health?.['isPassing'], false);
  warn(0);
  t.equal((await drivesAs())['nvme']?.health?.['isPassing'], true);
});

t.test('others read why not, and what it takes', async (t) => {
  const reasons = async (group: number, capabilities: number) => {
    const { nvme, ata } = await drivesAs(USER, group, hex(capabilities));
    return [nvme?.failure, ata?.failure];
  };
  t.strictSame(await reasons(NO_GROUP, 0), [
    'needs access to /dev/nvme0n1 and CAP_SYS_ADMIN',
    'needs access to /dev/sda and CAP_SYS_RAWIO',
  ]);
  t.strictSame(await reasons(DISK_GROUP, 0), ['needs CAP_SYS_ADMIN', 'needs CAP_SYS_RAWIO']);
  t.strictSame(await reasons(DISK_GROUP, SYS_ADMIN), ['', 'needs CAP_SYS_RAWIO']);
  t.strictSame(await reasons(DISK_GROUP, SYS_RAWIO), ['needs CAP_SYS_ADMIN', '']);
  t.strictSame(await reasons(DISK_GROUP, SYS_ADMIN | SYS_RAWIO), ['', '']);
  await vm.run('mv /dev/sda /dev/hidden');
  t.equal((await drivesAs())['ata']?.failure, 'there is no /dev/sda here');
  await vm.run('mv /dev/hidden /dev/sda');
});

t.test('a drive that the kernel has switched off stays off', async (t) => {
  const power = '/sys/block/sda/device/power';
  await vm.run(`echo 0 >${power}/autosuspend_delay_ms; echo auto >${power}/control`);
  await until('it sleeps', 20_000, async () =>
    (await vm.run(`cat ${power}/runtime_status`)).text === 'suspended' ? true : undefined,
  );
  const { ata } = await drivesAs();
  t.match(ata, { health: null, failure: 'it is asleep, and reading its health would wake it' });
  t.equal((await vm.run(`cat ${power}/runtime_status`)).text, 'suspended');
  await vm.run(`echo on >${power}/control`);
  t.equal((await drivesAs())['ata']?.health?.['isPassing'], true, 'awake, it is asked again');
});

t.test('an idle disk is asked once, so that it may spin down', async (t) => {
  const commands = () =>
    [...vm.console().matchAll(/ide_exec_cmd .*cmd 0x(\w\w)/g)].map((match) => match[1] ?? '');
  const power = commands().indexOf('e5');
  t.same(
    commands().slice(power, power + 4),
    ['e5', 'ec', 'b0', 'b0'],
    'what it is asked, and in which order',
  );
  const asked = async (script: string) => {
    const before = commands().length;
    await vm.run(script);
    return commands()
      .slice(before)
      .filter((code) => code === 'e5').length;
  };
  t.equal(await asked('read_drives 3'), 1, 'fifteen questions come due meanwhile');
  const busy = 'for i in 1 2 3 4 5 6; do sleep 0.5; dd if=/dev/sda of=/dev/null bs=4k count=1 skip=$i; done';
  const times = await asked(`(${busy}) & read_drives 3; wait`);
  t.ok(times >= 3, `${times} times while it works`);
});
