/** `hostwire doctor`: what it makes of a reading, and the command on this machine. */
import net from 'node:net';
import path from 'node:path';
import t from 'tap';
import { judgeCounters } from '#src/cli/doctor.js';
import type { Counters } from '#src/host/host.js';
import { fixtureHost } from '../helpers/fixture-host.ts';
import { runToEnd } from '../helpers/service.ts';

const ROOTS = { host: { proc: '/p', sys: '/s' } };
const FULL: Counters = fixtureHost().readCounters(31, true, 0);

/** The finding on `subject` as `state: text`. */
function judge(subject: string, change: Partial<Counters>): string | undefined {
  const found = judgeCounters({ ...FULL, ...change }, ROOTS).filter((each) => each.subject === subject);
  return found.length === 1 ? `${found[0]?.state}: ${found[0]?.text}` : undefined;
}

t.test('[9.doctor-reading] what a reading says of each section', async (t) => {
  const { cpu, memory, disks, interfaces } = FULL;
  const [disk] = disks ?? [];
  if (!cpu || !memory || !disk || !interfaces) throw new Error('the fixture lacks a section');
  const without = (key: 'cpu' | 'memory' | 'disks' | 'interfaces', failures?: Record<string, string>) => {
    const { [key]: _, ...rest } = FULL;
    const findings = judgeCounters(failures === undefined ? rest : { ...rest, failures }, ROOTS);
    return findings.map(({ subject, state, text }) => `${subject} ${state}: ${text}`);
  };
  t.match(judge('cpu', {}), /^ok: \d+ processors from \/p\/stat$/);
  t.match(
    without('cpu', { cpu: 'EACCES: no leave' }).find((line) => line.startsWith('cpu ')),
    'cpu no: EACCES: no leave',
  );
  t.match(without('cpu'), ['cpu no: not readable on this platform', /^temperature part: /, /^speed part: /]);
  const hot = { ...cpu, temperatureCelsius: 61.5, speedHz: 2.4e9 };
  t.equal(judge('temperature', { cpu: hot }), 'ok: 61.5 °C');
  t.equal(judge('speed', { cpu: hot }), 'ok: 2400 MHz');
  const blind = { ...cpu, temperatureCelsius: null, speedHz: null };
  t.match(judge('temperature', { cpu: blind }), /^part: no sensor .* in \/s\/class\/hwmon/);
  t.match(judge('speed', { cpu: blind }), 'part: neither cpufreq in /s nor MHz in /p/cpuinfo');
  t.match(judge('memory', {}), /^ok: \d+ MiB from \/p\/meminfo$/);
  t.ok(without('memory').includes('memory no: not readable on this platform'));
  t.match(judge('pressure', { memory: { ...memory, pressure: null } }), /^part: no \/p\/pressure/);
  t.equal(
    judge('pressure', { memory: { ...memory, pressure: { some: 0, full: 0 } } }),
    'ok: from /p/pressure',
  );
  const stuck = { ...disk, isStale: true, mountPoint: '/mnt/gone' };
  const fresh = { ...disk, isStale: false };
  t.equal(judge('disks', { disks: [fresh, fresh] }), 'ok: 2 mounts');
  t.equal(judge('disks', { disks: [fresh, stuck] }), 'part: 2 mounts; no answer from /mnt/gone');
  t.ok(without('disks', { disks: 'EIO' }).includes('disks no: EIO'));
  t.equal(judge('network', {}), `ok: ${interfaces.length} interfaces`);
  t.ok(without('interfaces', { interfaces: 'ENOENT' }).includes('network no: ENOENT'));
});

/** Subject → state of a print-out; throws on a line of another form, and on a subject that comes twice. */
function parse(text: string): ReadonlyMap<string, string> {
  const states = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [, subject = '', state = ''] = /^([a-z]+) +(ok|part|no) +\S/.exec(line) ?? [];
    if (subject === '' || states.has(subject)) throw new Error(`a line out of place: ${line}`);
    states.set(subject, state);
  }
  return states;
}

const SUBJECTS =
  'node configuration addon cpu temperature speed memory pressure disks network gpu port power rights media';

t.test('[9.doctor] on this machine: a line a subject, exit 0', async (t) => {
  const { code, stdout, stderr } = await runToEnd(['doctor', '--host', '127.0.0.1', '--port', '0']);
  t.equal(code, 0);
  t.equal(stderr, '');
  const states = parse(stdout);
  t.same([...states.keys()], SUBJECTS.split(' '));
  for (const subject of ['node', 'configuration', 'addon', 'cpu', 'memory', 'port'])
    t.equal(states.get(subject), 'ok', subject);
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
  t.equal(parse(stdout).get('port'), 'no');
  t.match(stdout, `port ${address.port} on 127.0.0.1 can't be listened on`);
});

t.test('[9.doctor-config] a bad configuration: exit 1, and what is wrong with it', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'auth:\n  enabled: maybe\nstats: 5\n' });
  const { code, stdout } = await runToEnd(['doctor'], { file: path.join(folder, 'config.yaml') });
  t.equal(code, 1);
  t.equal(parse(stdout).get('configuration'), 'no');
  t.match(
    stdout,
    /config\.yaml:2: auth\.enabled: expected true or false, found "maybe"; \S+config\.yaml:3: stats/,
  );
});
