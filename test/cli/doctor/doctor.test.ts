/** `hostwire doctor`: its table, and the command on this machine. */
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import t from 'tap';
import '../../helpers/service/dead-buses.ts';
import { examineConfiguration } from '#src/cli/doctor/doctor.js';
import { missing, partly, printRows, works } from '#src/cli/doctor/rows.js';
import { listen } from '../../helpers/clients/listen.ts';
import { runToEnd } from '../../helpers/service/service.ts';

t.test('[9.doctor-table] one line per row; why, and what to do, below it', async (t) => {
  const text = printRows([
    works('cpu', '4 processors'),
    partly('temperature', '/sys', { reason: 'none', remedy: 'load coretemp' }),
    missing('gpu', '/dev', { reason: 'nothing there' }),
  ]);
  t.equal(
    text,
    'cpu          ok       4 processors\n' +
      'temperature  partly   /sys\n' +
      '                      why: none\n' +
      '                      try: load coretemp\n' +
      'gpu          missing  /dev\n' +
      '                      why: nothing there\n',
  );
});

/** Subject → status of a printed table; throws on a line of another form, and on a subject that comes twice. */
function parse(text: string): ReadonlyMap<string, string> {
  const statuses = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    if (/^ {10,}(why|try): \S/.test(line)) continue;
    const [, subject = '', status = ''] = /^([a-z-]+) +(ok|partly|missing) +\S/.exec(line) ?? [];
    if (subject === '' || statuses.has(subject)) throw new Error(`a line out of place: ${line}`);
    statuses.set(subject, status);
  }
  return statuses;
}

/** At least these: readers may add others. */
const SUBJECTS =
  'node configuration engine addon c-library d-bus cpu temperature speed cpu-power memory pressure gpu disks network ' +
  'sensors drives batteries processes process-control power media keys port access limits rights unit';

t.test('[9.doctor] [9.doctor-limits] on this machine: one row per subject, exit 0', async (t) => {
  const { code, stdout, stderr } = await runToEnd(['doctor', '--host', '127.0.0.1', '--port', '0']);
  t.equal(code, 0);
  t.equal(stderr, '');
  const statuses = parse(stdout);
  for (const subject of SUBJECTS.split(' ')) t.ok(statuses.has(subject), subject);
  for (const subject of ['node', 'configuration', 'engine', 'addon', 'cpu', 'memory', 'processes', 'port'])
    t.equal(statuses.get(subject), 'ok', subject);
  t.match(
    stdout,
    /^limits +ok +64 MiB of buffers for clients; per address without the key: unlimited connections, unlimited streams, unlimited pending requests$/m,
    '[9.doctor-limits]',
  );
});

t.test('[9.doctor-port] a port that is taken: exit 1 and the port by name', async (t) => {
  const port = await listen(t, net.createServer());
  const { code, stdout } = await runToEnd(['doctor', '--host', '127.0.0.1', '--port', `${port}`]);
  t.equal(code, 1);
  t.equal(parse(stdout).get('port'), 'missing');
  t.match(stdout, new RegExp(`port ${port} on 127.0.0.1\\n +why: already in use by process ${process.pid}`));
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

t.test('[9.doctor-config] errors of the check that do not stop a start: partly', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'auth:\n  enabled: true\nstats:\n  interval: 5\n' });
  const surroundings = { platform: 'linux', cwd: folder, variables: {} };
  const { row, config } = examineConfiguration({
    paths: ['config.yaml'],
    overrides: new Map(),
    surroundings,
  });
  t.equal(config?.auth.enabled, true);
  t.match(row, {
    subject: 'configuration',
    status: 'partly',
    reason: /no key is configured, so no client can connect.*stats\.interval: unknown key, ignored/,
    remedy: /hostwire check/,
  });
});

t.test('[9.doctor-hub] a hub is judged by what a hub needs', async (t) => {
  const text =
    'hub: {agents: {nas: "http://nas.lan:9990"}}\nserver: {host: 127.0.0.1, port: 0}\nhost: {proc: /nowhere}\n';
  const folder = t.testdir({ 'hub.yaml': text });
  const { code, stdout } = await runToEnd(['doctor', '--json'], { file: path.join(folder, 'hub.yaml') });
  t.equal(code, 0);
  const rows: readonly { readonly subject: string; readonly source: string }[] = JSON.parse(stdout);
  t.strictSame(
    rows.map(({ subject }) => subject).filter((subject) => subject !== 'rights'),
    [
      'node',
      'configuration',
      'engine',
      'addon',
      'c-library',
      'streams',
      'port',
      'access',
      'limits',
      'machines',
    ],
  );
  t.match(
    rows.filter(({ subject }) => ['access', 'machines'].includes(subject)),
    [{ source: /reading of all its machines: on; commands: none/ }, { source: '1 in hub.agents' }],
  );
});
