/** Processes through the program itself: in detailed samples, as lists and details, and ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EventStream, payloadOf } from '../helpers/clients/event-stream.ts';
import { ask, jsonOf, type RawAnswer, valuesOf } from '../helpers/clients/http.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { serveProgram } from '../helpers/service/service.ts';

interface Share {
  readonly name: string;
  readonly pid: number;
  readonly cpu: number | null;
}

interface Detail {
  readonly processes?: {
    readonly count: number;
    readonly running: number;
    readonly top_cpu: readonly Share[] | null;
    readonly top_memory: readonly Share[];
    readonly age_seconds: number;
  } | null;
}

t.test('[3.detail-processes] five rows of each in a detailed sample, none by default', async (t) => {
  // In a container there may be fewer.
  for (let i = 0; i < 5; i++) {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
  }
  const service = await serveProgram(t, { config: { stats: { stream_interval_seconds: 1 } } });
  const stream = await EventStream.openIn(t, service.port, '/api/stream?detail=1&fields=memory');
  const samples: Detail[] = [];
  for (let i = 0; i < 5; i++) samples.push(payloadOf(await stream.next()) as Detail);
  const { processes } = samples.at(-1) ?? {};
  t.ok((processes?.count ?? 0) > 1);
  t.equal(processes?.top_memory.length, 5);
  t.ok((processes?.top_cpu?.length ?? 9) <= 5);
  t.ok((processes?.age_seconds ?? -1) >= 0);
  t.strictSame(Object.keys(processes?.top_memory[0] ?? {}), [
    'name',
    'pid',
    'memory',
    'memory_mb',
    'cpu_time',
    'cpu',
  ]);
  for (const { cpu } of processes?.top_cpu ?? []) t.ok(cpu !== null && cpu >= 0 && cpu <= 100);
  t.notOk('processes' in Object(jsonOf(await ask(service.port, '/api/usage'))), 'not by default');
});

t.test('[3.detail-processes] absent while features.enable_processes is off', async (t) => {
  const config = { stats: { stream_interval_seconds: 1 }, features: { enable_processes: false } };
  const service = await serveProgram(t, { config });
  const payload = Object(jsonOf(await ask(service.port, '/api/usage?detail=1')));
  t.ok('interval_seconds' in payload);
  t.notOk('processes' in payload);
});

const KEYS = ['name', 'count', 'memory', 'memory_mb', 'cpu_time', 'cpu'];
const ROW_KEYS = [
  'name',
  'pid',
  'memory',
  'memory_mb',
  'cpu_time',
  'cpu',
  'ppid',
  'user',
  'started_at',
  'threads',
  'path',
];

/** A process that only this test knows. */
function startSleeper(t: { teardown(done: () => unknown): unknown }) {
  const folder = emptyFolder(t, 'rest');
  const name = `hw rest ${process.pid}`;
  const program = path.join(folder, name);
  copyFileSync('/bin/sleep', program);
  const child = spawn(program, ['600'], { stdio: 'ignore', cwd: folder });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, name, program, folder, pid: child.pid ?? 0 };
}

/** The user of this process; its number where it has no name, as in some containers. */
function userHere(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}

// Values read from an answer are compared with the expected ones.
const objectOf = (answer: RawAnswer) => jsonOf(answer) as Record<string, unknown>;
const rowsIn = (answer: RawAnswer) => objectOf(answer)['processes'] as readonly Record<string, unknown>[];

t.test('[7.process-rest] GET /api/processes, grouped and one by one', async (t) => {
  const service = await serveProgram(t);
  const { name, pid, program } = startSleeper(t);
  await sleep(100);
  const grouped = await ask(service.port, '/api/processes');
  t.equal(grouped.status, 200);
  t.strictSame(Object.keys(objectOf(grouped)), ['timestamp', 'total_count', 'processes']);
  const rows = rowsIn(grouped);
  t.strictSame(Object.keys(rows[0] ?? {}), KEYS);
  t.match(
    rows.find((row) => row['name'] === name),
    { count: 1, cpu: 0 },
  );
  const sum = rows.reduce((total, row) => total + Number(row['count']), 0);
  t.equal(objectOf(grouped)['total_count'], sum);

  const flat = await ask(
    service.port,
    `/api/processes?grouped=0&sort=name&limit=5&query=${encodeURIComponent(name)}`,
  );
  const [row, ...others] = rowsIn(flat);
  t.strictSame(others, []);
  t.strictSame(Object.keys(row ?? {}), ROW_KEYS);
  t.match(row, { name, pid, ppid: process.pid, user: userHere(), threads: 1, path: program });
  t.ok(Math.abs(Number(row?.['started_at']) - Date.now() / 1000) < 5);

  for (const query of [
    'sort=size',
    'limit=0',
    'limit=x',
    'limit=10001',
    'grouped=maybe',
    'disk=maybe',
    'sort=cpu&sort=name',
  ]) {
    const refused = await ask(service.port, `/api/processes?${query}`);
    t.equal(refused.status, 400, query);
    t.match(jsonOf(refused), { code: 'invalid_value' });
  }
});

t.test('[7.process-disks] disk=1 and sort=disk add read_rate and write_rate to each row', async (t) => {
  const service = await serveProgram(t);
  const { name } = startSleeper(t);
  const rates = { read_rate: Number, write_rate: 0 };
  for (const query of ['disk=1', 'sort=disk']) {
    const path = `/api/processes?${query}&query=${encodeURIComponent(name)}`;
    t.match(rowsIn(await ask(service.port, path)), [{ count: 1, ...rates }], query);
    t.match(rowsIn(await ask(service.port, `${path}&grouped=0`)), [{ threads: 1, ...rates }]);
  }
});

t.test(
  '[7.process-details] [2.404-process] GET /api/processes/{name}: all processes of a name, or the one with a pid',
  async (t) => {
    const service = await serveProgram(t);
    const { name, pid, program } = startSleeper(t);
    await sleep(100);
    const answer = await ask(service.port, `/api/processes/${encodeURIComponent(name)}`);
    t.strictSame(Object.keys(objectOf(answer)), ['timestamp', ...KEYS, 'processes']);
    t.strictSame(
      Object.keys(rowsIn(answer)[0] ?? {}),
      [...ROW_KEYS, 'state', 'open_files', 'title'],
      'no command line',
    );
    t.match(rowsIn(answer)[0], { pid, path: program, state: 'sleeping', title: null });
    t.match(objectOf(await ask(service.port, `/api/processes/${pid}`)), {
      name,
      count: 1,
      processes: [{ pid }],
    });
    for (const [target, status, code] of [
      ['no-such-process', 404, 'process_not_found'],
      ['4194305', 404, 'process_not_found'],
      ['%ff', 400, 'invalid_value'],
      ['', 404, 'not_found'],
      ['a/b', 404, 'not_found'],
    ] as const) {
      const refused = await ask(service.port, `/api/processes/${target}`);
      t.equal(refused.status, status, target);
      t.match(jsonOf(refused), { code });
    }
  },
);

t.test('[7.process-rest-kill] [2.409-others] POST /api/processes/kill, off by default', async (t) => {
  const off = await serveProgram(t);
  const mine = startSleeper(t);
  const post = (service: { readonly port: number }, body: unknown) =>
    ask(service.port, '/api/processes/kill', { method: 'POST', body: JSON.stringify(body) });
  const refused = await post(off, { pid: mine.pid });
  t.equal(refused.status, 403);
  t.strictSame(valuesOf(refused, 'x-error-code'), ['feature_disabled']);

  const service = await serveProgram(t, { config: { features: { enable_process_control: true } } });
  const described = async () => rowsIn(await ask(service.port, `/api/processes/${mine.pid}`))[0];
  let row = await described();
  // Reading a command line has a time limit, which a loaded machine may exceed: then it is empty.
  while (String(row?.['command']) === '') row = await described();
  t.match(row, { command: [mine.program, '60'], cwd: mine.folder }, 'now with the command line');
  for (const [body, status, code] of [
    [{ pid: 0 }, 400, 'invalid_value'],
    [{ pid: 4194305 }, 404, 'process_not_found'],
    [{ pid: mine.pid, started_at: 1 }, 409, 'process_changed'],
  ] as const) {
    const answer = await post(service, body);
    t.equal(answer.status, status, JSON.stringify(body));
    t.match(jsonOf(answer), { code });
  }
  t.equal(mine.child.signalCode, null);
  const ended = once(mine.child, 'exit');
  const answer = await post(service, { pid: mine.pid });
  t.match(jsonOf(answer), {
    success: true,
    action: 'kill',
    final: true,
    pid: mine.pid,
    name: mine.name,
    count: 1,
  });
  await ended;
  t.equal(mine.child.signalCode, 'SIGTERM');
});

t.test('[7.process-rest-launch] POST /api/processes/launch, off by default', async (t) => {
  const entry = { command: '/bin/true', args: [], env: {}, allow_args: false };
  const launch = {
    plain: entry,
    open: { ...entry, allow_args: true },
    broken: { ...entry, command: '/nonexistent/program' },
  };
  const post = (service: { readonly port: number }, body: unknown) =>
    ask(service.port, '/api/processes/launch', { method: 'POST', body: JSON.stringify(body) });
  const off = await serveProgram(t, { config: { processes: { launch } } });
  const refused = await post(off, { app: 'plain' });
  t.equal(refused.status, 403);
  t.strictSame(valuesOf(refused, 'x-error-code'), ['feature_disabled']);

  const service = await serveProgram(t, {
    config: { features: { enable_process_control: true }, processes: { launch } },
  });
  for (const [body, status, code] of [
    [{ app: 'none' }, 404, 'not_found'],
    [{ app: 'broken' }, 500, 'action_failed'],
  ] as const) {
    const answer = await post(service, body);
    t.equal(answer.status, status, JSON.stringify(body));
    t.match(jsonOf(answer), { code });
  }
  t.match(jsonOf(await post(service, { path: '/bin/true' })), {
    code: 'missing_field',
    error: /apps are started by their names in processes\.launch .*not by a path/,
  });
  for (const body of [{ app: 'plain' }, { app: 'open', args: ['a', 'b'] }])
    t.match(jsonOf(await post(service, body)), {
      success: true,
      action: 'launch',
      final: true,
      name: body.app,
      pid: Number,
    });
  t.equal((await ask(service.port, '/api/processes/launch')).status, 405);
});

t.test('[7.process-flags] enable_processes off: neither list nor details', async (t) => {
  const service = await serveProgram(t, { config: { features: { enable_processes: false } } });
  for (const target of ['/api/processes', '/api/processes/node', '/api/processes?sort=bad']) {
    const answer = await ask(service.port, target);
    t.equal(answer.status, 403);
    t.strictSame(valuesOf(answer, 'x-error-code'), ['feature_disabled']);
  }
  const { capabilities } = objectOf(await ask(service.port, '/api/system?detail=1'));
  t.match(capabilities, { processes: { list: { enabled: false, supported: true, reason: null } } });
});

t.test(
  '[3.system-capabilities] the capabilities of power, media and processes, or why they are missing',
  async (t) => {
    const service = await serveProgram(t);
    const { capabilities } = objectOf(await ask(service.port, '/api/system?detail=1'));
    t.strictSame(Object.keys(Object(capabilities)).sort(), ['media', 'power', 'processes', 'wake']);
    const shape = { enabled: Boolean, supported: Boolean };
    t.match(capabilities, { processes: { list: shape, control: { ...shape, enabled: false } } });
  },
);
