/** The process routes of the service on Windows, over real sockets. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { emptyFolder } from '../helpers/scope.ts';
import { startNode, startOnWindows } from './wine.ts';

const NODE_ON_WINDOWS = 'node.exe';

t.setTimeout(280_000);
t.test('[7.windows-processes] a list with owners and paths, and ending one', async (t) => {
  const folder = emptyFolder(t, 'processes');
  const service = await startOnWindows({ features: { enable_process_control: true } });
  const get = async (route: string) => {
    const answer = await fetch(service.baseUrl + route);
    // The API document gives its shape; the test reads only the keys it names.
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const sleeper = startNode(['-e', 'setTimeout(() => {}, 60000)'], { cwd: folder });
  t.teardown(() => sleeper.child.kill('SIGKILL'));
  /** The keys of a row of the list that the test reads. */
  interface ListRow {
    readonly pid: number;
    readonly name: string;
    readonly path: string | null;
    readonly started_at: number;
    readonly user: string;
  }
  const rows = async () => {
    const { body } = await get(`/api/processes?grouped=false&query=${NODE_ON_WINDOWS}`);
    // As above.
    return body['processes'] as readonly ListRow[];
  };
  let list = await rows();
  // Wine's start of a program takes many seconds on a busy machine, and lists it before it has a path.
  const areStarted = () => list.length >= 2 && list.every((row) => row.path !== null);
  for (let i = 0; i < 600 && !areStarted(); i++) {
    await sleep(200);
    list = await rows();
  }
  t.equal(list.length, 2, 'the service, and one that sleeps');
  for (const row of list) {
    t.match(row, { name: NODE_ON_WINDOWS, path: /node\.exe$/i });
    t.ok(Math.abs(row.started_at - Date.now() / 1000) < 120, `begun at ${row.started_at}`);
    t.not(row.user, 'unknown');
  }
  const system = await get('/api/system?detail=1');
  t.match(system.body['capabilities'], {
    processes: { list: { supported: true }, control: { supported: true } },
  });
  const kill = async (body: object) =>
    await fetch(`${service.baseUrl}/api/processes/kill`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const results = [];
  for (const row of list) results.push({ row, answer: await kill({ pid: row.pid, signal: 'kill' }) });
  t.same(
    results.map(({ answer }) => answer.status).sort(),
    [200, 409],
    'one ends, and the service is protected',
  );
  await sleeper.ended;
  t.equal((await fetch(`${service.baseUrl}/api/status`)).status, 200, 'it lives on');
  t.equal((await service.stop()).code, 0);
});
