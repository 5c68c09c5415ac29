/** `hostwire doctor`: what it makes of a reading, and the command on this machine. */
import net from 'node:net';
import path from 'node:path';
import t from 'tap';
import '../../helpers/service/dead-buses.ts';
import { printRows } from '#src/cli/doctor/rows.js';
import { judgeReading } from '#src/cli/doctor/sections.js';
import type { Counters } from '#src/host/host.js';
import { fixtureHost } from '../../helpers/fakes/host.ts';
import { runToEnd } from '../../helpers/service/service.ts';

const FULL: Counters = fixtureHost().readCounters(31, true, 0);

const judgeAll = (counters: Counters) => judgeReading({ counters, proc: '/p', sys: '/s' });

/** The row of `section`, in one line. */
function textOf(section: string, counters: Counters): string {
  const rows = judgeAll(counters).filter((row) => row.section === section);
  if (rows.length !== 1) throw new Error(`${rows.length} rows of ${section}`);
  return rows.map(({ state, source, reason, remedy }) => [state, source, reason, remedy].join(' | ')).join();
}

const judge = (section: string, change: Partial<Counters>) => textOf(section, { ...FULL, ...change });

t.test('[9.doctor-reading] what a reading says of each section', async (t) => {
  const { cpu, memory, disks, network } = FULL;
  const [disk] = disks ?? [];
  if (!cpu || !memory || !disk || !network) throw new Error('the fixture lacks a section');
  const without = (
    section: string,
    key: 'cpu' | 'memory' | 'disks' | 'network',
    failures?: Record<string, string>,
  ) => {
    const { [key]: _, ...rest } = FULL;
    return textOf(section, failures === undefined ? rest : { ...rest, failures });
  };
  t.match(judge('cpu', {}), /^ok \| \d+ processors from \/p\/stat /);
  t.match(without('cpu', 'cpu', { cpu: 'EACCES: no leave' }), 'missing | /p/stat | EACCES: no leave');
  t.match(without('cpu', 'cpu'), 'missing | /p/stat | not readable on this platform');
  t.match(without('temperature', 'cpu'), /^missing/);
  t.match(without('speed', 'cpu'), /^missing/);
  const hot = { ...cpu, temperatureCelsius: 61.5, speedHz: 2.4e9 };
  t.match(judge('temperature', { cpu: hot }), 'ok | 61.5 °C');
  t.match(judge('speed', { cpu: hot }), 'ok | 2400 MHz');
  const blind = { ...cpu, temperatureCelsius: null, speedHz: null };
  t.match(judge('temperature', { cpu: blind }), /^missing \| \/s\/class\/hwmon .*coretemp/);
  t.match(judge('speed', { cpu: blind }), /^missing \| \/s\/.*cpufreq and \/p\/cpuinfo/);
  t.match(judge('memory', {}), /^ok \| \d+ MiB from \/p\/meminfo /);
  t.match(without('memory', 'memory'), 'missing | /p/meminfo | not readable on this platform');
  t.match(judge('pressure', { memory: { ...memory, pressure: null } }), /^missing \| \/p\/pressure .*psi=1/);
  t.match(
    judge('pressure', { memory: { ...memory, pressure: { some: 0, full: 0 } } }),
    'ok | from /p/pressure',
  );
  const stuck = { ...disk, isStale: true, mountPoint: '/mnt/gone' };
  const fresh = { ...disk, isStale: false };
  t.match(judge('disks', { disks: [fresh, fresh] }), 'ok | 2 mounts');
  t.match(judge('disks', { disks: [fresh, stuck] }), 'partly | 2 mounts | no answer from /mnt/gone');
  t.match(without('disks', 'disks', { disks: 'EIO' }), 'missing | /p/self/mountinfo | EIO');
  t.match(judge('network', {}), `ok | ${network.length} interfaces`);
  t.match(without('network', 'network', { network: 'ENOENT' }), 'missing | /p/net/dev | ENOENT');
});

t.test('[9.doctor-reading] sensors, drives, batteries, Wi-Fi, power of the processor', async (t) => {
  const { cpu, network, sensors, disks } = FULL;
  const [sensor] = sensors ?? [];
  const [link] = network ?? [];
  const [disk] = disks ?? [];
  if (!cpu || !sensor || !link || !disk) throw new Error('the fixture lacks something');
  const energy = { takenAtNs: 0, zones: [], failure: null };
  const power = (more: object) => judge('cpu-power', { cpu: { ...cpu, energy: { ...energy, ...more } } });
  t.match(power({}), /^missing \| \/s\/class\/powercap.*virtual machines.*intel_rapl_msr/);
  t.match(power({ failure: 'open energy_uj: EACCES' }), /^missing .*EACCES.*Linux 5\.10.*tmpfiles/);
  const zones = [{ name: 'package-0', microjoules: 1, rangeMicrojoules: 9 }];
  t.match(power({ zones }), /^ok \| 1 package from/);

  t.match(judge('sensors', {}), 'ok | 2 sensors of 2 chips from /s/class/hwmon');
  t.match(judge('sensors', { sensors: [] }), /^missing .*sensors-detect/);
  const broken = { ...sensor, label: 'nvme Composite', value: null, failure: 'EIO' };
  const asleep = { ...sensor, label: 'amdgpu edge', value: null };
  t.match(
    judge('sensors', { sensors: [sensor, broken, asleep] }),
    'partly | 3 sensors of 1 chip from /s/class/hwmon | fail: nvme Composite (EIO); nothing connected, or asleep: amdgpu edge |',
  );
  const many = Array.from({ length: 7 }, (_, at) => ({ ...asleep, label: `s${at}` }));
  t.match(judge('sensors', { sensors: many }), 's0, s1, s2, s3, s4 and 2 more');

  t.match(judge('drives', {}), /^missing \| no temperature of a drive .*modprobe drivetemp/);
  const nvme = { ...sensor, driver: 'nvme', chip: 'Samsung 980' };
  t.match(judge('drives', { sensors: [nvme] }), /^partly \| Samsung 980 \| .*drivetemp/);
  t.match(judge('drives', { sensors: [{ ...nvme, driver: 'drivetemp' }] }), /^ok \| Samsung 980/);
  const stick = { ...disk, isRemovable: true };
  t.match(judge('drives', { disks: [stick] }), /^missing .*no NVMe or SATA drive/);

  t.match(judge('batteries', {}), 'ok | BAT0 from /s/class/power_supply');
  t.match(judge('batteries', { batteries: [] }), 'ok | none in /s/class/power_supply');
  const [battery] = FULL.batteries ?? [];
  if (!battery) throw new Error('no battery');
  const dead = { ...battery, name: 'BAT1', failure: 'EIO' };
  t.match(judge('batteries', { batteries: [battery, dead] }), /^partly .*BAT1: EIO/);
  t.match(judge('batteries', { batteries: [dead] }), /^missing/);

  t.throws(() => judge('wifi', {}), '0 rows');
  const wifi = { ...link, kind: 'wifi' as const, name: 'wlan0' };
  t.match(judge('wifi', { network: [{ ...wifi, signalDbm: -60 }] }), /^ok \| wlan0 from/);
  t.match(judge('wifi', { network: [{ ...wifi, isUp: false, signalDbm: null }] }), /^ok/);
  t.match(judge('wifi', { network: [{ ...wifi, signalDbm: null }] }), /^partly .*wlan0.*host\.proc/);
});

t.test('[9.doctor-table] a row a section; why and what to do below it', async (t) => {
  const text = printRows([
    { section: 'cpu', state: 'ok', source: '4 processors' },
    { section: 'temperature', state: 'partly', source: '/sys', reason: 'none', remedy: 'load coretemp' },
  ]);
  t.equal(
    text,
    'cpu          ok       4 processors\n' +
      'temperature  partly   /sys\n' +
      '                      why: none\n' +
      '                      try: load coretemp\n',
  );
  const sections = judgeAll(FULL).map(({ section }) => section);
  t.strictSame([...new Set(sections)], sections, 'no section twice');
  for (const row of judgeAll({ ...FULL, cpu: null, memory: null, disks: null, network: null }))
    t.equal(row.reason === undefined, row.state === 'ok', `${row.section}: what is not ok says why`);
});

/** Section → state of a print-out; throws on a line of another form, and on a section that comes twice. */
function parse(text: string): ReadonlyMap<string, string> {
  const states = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    if (/^ {10,}(why|try): \S/.test(line)) continue;
    const [, section = '', state = ''] = /^([a-z-]+) +(ok|partly|missing) +\S/.exec(line) ?? [];
    if (section === '' || states.has(section)) throw new Error(`a line out of place: ${line}`);
    states.set(section, state);
  }
  return states;
}

const SECTIONS =
  'node configuration addon peers cpu temperature speed cpu-power memory pressure disks network ' +
  'sensors drives batteries gpu processes process-control power media keys port rights unit';

t.test('[9.doctor] on this machine: a row a section, exit 0', async (t) => {
  const { code, stdout, stderr } = await runToEnd(['doctor', '--host', '127.0.0.1', '--port', '0']);
  t.equal(code, 0);
  t.equal(stderr, '');
  const states = parse(stdout);
  t.same([...states.keys()], SECTIONS.split(' '));
  for (const section of ['node', 'configuration', 'addon', 'peers', 'cpu', 'memory', 'processes', 'port'])
    t.equal(states.get(section), 'ok', section);
});

t.test('[9.doctor-port] a port that is taken: exit 1 and the port by name', async (t) => {
  const holder = await new Promise<net.Server>((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => resolve(server));
  });
  t.teardown(() => holder.close());
  const address = holder.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { code, stdout } = await runToEnd(['doctor', '--host', '127.0.0.1', '--port', `${address.port}`]);
  t.equal(code, 1);
  t.equal(parse(stdout).get('port'), 'missing');
  t.match(stdout, new RegExp(`port ${address.port} on 127.0.0.1\\n +why: it can't be listened on`));
});

t.test('[9.doctor-config] a bad configuration: exit 1, and what is wrong with it', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'auth:\n  enabled: maybe\nstats: 5\n' });
  const { code, stdout } = await runToEnd(['doctor'], { file: path.join(folder, 'config.yaml') });
  t.equal(code, 1);
  t.equal(parse(stdout).get('configuration'), 'missing');
  t.match(
    stdout,
    /config\.yaml:2: auth\.enabled: expected true or false, found "maybe"; \S+config\.yaml:3: stats/,
  );
});
