/** The running program with a history on disk: across a restart and a kill, on a disk that hangs, and without warnings. */
import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { hasSqlite, openSqlite } from '#src/history/store/sqlite.js';
import type { EventList } from '#src/wire/events.js';
import { ask, jsonOf } from '../../../helpers/clients/http.ts';
import { openMountSpace, whyNoMountSpace } from '../../../helpers/machine/hung-mounts.ts';
import { sqliteTests } from '../../../helpers/machine/sqlite-node.ts';
import { emptyFolder } from '../../../helpers/scope.ts';
import { type ServiceProcess, startService } from '../../../helpers/service/service.ts';
import { until } from '../../../helpers/until.ts';

const test = await sqliteTests(t, import.meta.filename);

async function start(
  t: Test,
  file: string,
  more: Parameters<typeof startService>[0] = {},
): Promise<ServiceProcess> {
  const service = await startService({ config: { history: { minutes: 60, path: file } }, ...more });
  t.teardown(() => service.stop('SIGKILL'));
  return service;
}

/** The marks of a file that no service has open. */
function kindsIn(file: string): readonly unknown[] {
  const database = openSqlite(file);
  const sql = "SELECT data ->> 'kind' AS kind FROM notes WHERE kind = 'mark' ORDER BY id";
  const kinds = [...database.prepare(sql).iterate()].map(({ kind }) => kind);
  database.close();
  return kinds;
}

/** Returns the kinds in a file that a service has open, from a copy, as a crash would leave it. */
function kindsNow(t: Test, file: string): readonly unknown[] {
  const copy = path.join(emptyFolder(t), 'copy.db');
  try {
    for (const suffix of ['', '-wal']) copyFileSync(`${file}${suffix}`, `${copy}${suffix}`);
    return kindsIn(copy);
  } catch {
    // Not there yet, or without tables.
    return [];
  }
}

/** Whether GET /api/events has it among those that last. */
async function hasEvent({ port }: ServiceProcess, kind: string, subject: string): Promise<boolean> {
  const { open } = jsonOf(await ask(port, '/api/events')) as EventList;
  return open.some((event) => event.kind === kind && event.subject === subject);
}

const linesOf = (service: ServiceProcess) =>
  service
    .stderr()
    .split('\n')
    .filter((line) => /history|sqlite|experimental/i.test(line) && !line.includes('configuration'));

test('data written before kill -9 is there, and the next start says what happened', async (t) => {
  const file = path.join(emptyFolder(t), 'history.db');
  const first = await start(t, file);
  await until(() => kindsNow(t, file).length === 1);
  t.match(await first.stop('SIGKILL'), { signal: 'SIGKILL' });
  t.strictSame(linesOf(first), [], 'it says nothing, and Node does not either');
  t.strictSame(kindsIn(file), ['start']);
  const second = await start(t, file);
  await until(() => kindsNow(t, file).length === 3);
  await until(() => hasEvent(second, 'machine', 'crashed'), 'the event of the crash');
  t.match(await second.stop(), { code: 0 });
  t.strictSame(linesOf(second), []);
  // The mark of its stop is there if the machine was not too busy for 500 ms.
  t.strictSame(kindsIn(file).slice(0, 3), ['start', 'crash', 'start']);
});

test('without history.path nothing of it is loaded; with history.minutes 0 nothing is opened', async (t) => {
  const file = path.join(emptyFolder(t), 'history.db');
  const off = await start(t, file, { config: { history: { minutes: 0, path: file } } });
  t.equal((await ask(off.port, '/api/status')).status, 200);
  await off.stop();
  t.notOk(existsSync(file));
});

test('a folder that is missing does not keep it from serving', async (t) => {
  const file = '/nonexistent/hostwire/history.db';
  const service = await start(t, file);
  await until(() => linesOf(service).length > 0);
  t.match(linesOf(service), [/error: history\.path: .* the folder \/nonexistent\/hostwire does not exist/]);
  t.equal((await ask(service.port, '/api/status')).status, 200);
  await until(() => hasEvent(service, 'storage', 'history'), 'the event of the disk');
  t.match(await service.stop(), { code: 0 });
});

if (whyNoMountSpace() === undefined)
  test('on a disk that hangs it serves, and ends when it is asked to', async (t) => {
    const space = await openMountSpace(t);
    const { points } = await space.mountHung(1);
    const file = path.join(points[0] ?? '', 'history.db');
    const service = await start(t, file, { start: space.start });
    for (let i = 0; i < 20; i++) t.equal((await ask(service.port, '/api/status')).status, 200);
    t.match(await service.stop(), { code: 0 }, 'without waiting for its thread');
  });

if (!hasSqlite())
  // In the outer process: this Node.
  t.test('a Node without SQLite says so once, and records in memory', async (t) => {
    const file = path.join(emptyFolder(t), 'history.db');
    const service = await start(t, file);
    await until(() => linesOf(service).length > 0);
    t.match(linesOf(service), [
      /warn: .+history\.path: the history stays in memory, because this Node has no node:sqlite/,
    ]);
    t.match(await service.stop(), { code: 0 });
    t.notOk(existsSync(file));
  });
