/** Rules and machines that are muted: by the API and the command line, in the list, over a restart, and their end. */
import '../helpers/service/dead-buses.ts';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { changeMutes } from '#src/cli/notify.js';
import { Mutes } from '#src/history/mutes.js';
import type { EventList } from '#src/wire/events.js';
import { makeFolder, optionsFor, writeFiles } from '../config/loading.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { FAKE_EVENT, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { emptyFolder } from '../helpers/scope.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const NOW = 1_795_249_000;
/** The clock of tests begins a second after 0. */
const FIRST_MS = 1000;
const KEY = 'a'.repeat(43);

function setUp(file?: string, clock = new FakeClock()) {
  const lines: string[] = [];
  let changes = 0;
  const mutes = new Mutes({
    clock,
    unixMs: () => NOW * 1000 + clock.now() - FIRST_MS,
    log: { warn: (line) => lines.push(line) },
    path: file,
    find: (what) => (what === 'name of pc' ? 'pc' : ['pc', 'full', 'hot'].includes(what) ? what : undefined),
  });
  mutes.onChange(() => changes++);
  return { clock, mutes, lines, changes: () => changes };
}

const full = { machine: 'pc', subject: 'full disk.used_percent//' };
const hot = { machine: 'pc', subject: 'hot cpu.temperature' };

t.test('[12.mute] a rule or a machine, for a time, with a reason', async (t) => {
  const { clock, mutes, changes } = setUp();
  mutes.mute('full', 60, 'moving files');
  t.strictSame(mutes.list, [{ what: 'full', until: NOW + 60, reason: 'moving files' }]);
  t.strictSame([mutes.hides(full), mutes.hides(hot)], [true, false]);
  mutes.mute('name of pc', 30, '');
  t.match(mutes.list, [{ what: 'pc' }, { what: 'full' }], 'the next one to end first');
  t.strictSame([mutes.hides(hot), mutes.hides({ ...hot, machine: 'other' })], [true, false]);
  t.equal(changes(), 2);
  await clock.advance(30_000);
  t.equal(changes(), 3, 'its end is reported');
  t.strictSame([mutes.hides(full), mutes.hides(hot)], [true, false]);
  mutes.mute('full', 3600, 'longer');
  await clock.advance(60_000);
  t.strictSame(mutes.hides(full), true);
  mutes.mute('full', 0, '');
  t.strictSame(mutes.list, []);
  t.throws(() => mutes.mute('ful', 60, ''), { code: 'not_found' });
  mutes.close();
});

t.test('[12.mute] a restart changes nothing where there is a history on disk', async (t) => {
  const file = path.join(emptyFolder(t), 'history.db.mutes');
  const first = setUp(file);
  first.mutes.mute('full', 3600, 'moving files');
  first.mutes.mute('hot', 60, '');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('hot'));
  first.mutes.close();
  await first.clock.advance(120_000);
  const second = setUp(file, first.clock);
  await second.mutes.settled();
  t.strictSame(second.mutes.list, [{ what: 'full', until: NOW + 3600, reason: 'moving files' }]);
  second.mutes.close();
  writeFileSync(file, 'x');
  const third = setUp(file);
  await third.mutes.settled();
  t.strictSame(third.mutes.list, []);
  const unwritable = setUp('/nonexistent/hostwire/mutes');
  unwritable.mutes.mute('full', 60, '');
  await until(() => unwritable.lines.length > 0);
  t.match(unwritable.lines, ['/nonexistent/hostwire/mutes: ENOENT; what is muted is not after a restart']);
  unwritable.mutes.close();
});

async function serve(t: Test) {
  const history = new FakeHistory();
  const service = await serveHere(
    t,
    fixtureHost(),
    { auth: { enabled: true, api_key: KEY }, host: { name: 'pc1' } },
    { history },
  );
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const post = async (body: object) => {
    const url = `${service.baseUrl}/api/events/mute`;
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  // The documented shape.
  const list = async () =>
    (await (await fetch(`${service.baseUrl}/api/events`, { headers })).json()) as EventList;
  return { history, service, post, list };
}

t.test('[12.mute] POST /api/events/mute, shown beside the events that it hides', async (t) => {
  const { history, post, list } = await serve(t);
  history.notify(FAKE_EVENT);
  t.match(await post({ what: 'disk-full', seconds: 7200, reason: 'moving files' }), {
    status: 200,
    body: { mutes: [{ what: 'disk-full', until: Number, reason: 'moving files' }] },
  });
  t.match(await post({ what: 'pc1', seconds: 60 }), { status: 200 });
  const { open, mutes } = await list();
  t.match(open, [{ subject: 'busy cpu.load' }], 'it is still listed');
  t.match(mutes, [{ what: open[0]?.machine, reason: '' }, { what: 'disk-full' }]);
  t.match(await post({ what: 'disk-full', seconds: 0 }), { body: { mutes: { length: 1 } } });
  for (const [body, expected] of [
    [
      { what: 'toString', seconds: 60 },
      { status: 404, body: { code: 'not_found' } },
    ],
    [{ seconds: 60 }, { status: 400, body: { code: 'missing_field' } }],
    [{ what: 'disk-full' }, { status: 400, body: { code: 'missing_field' } }],
    [
      { what: 'disk-full', seconds: -1 },
      { status: 400, body: { code: 'invalid_value' } },
    ],
    [
      { what: 'disk-full', seconds: 1e9 },
      { status: 400, body: { code: 'invalid_value' } },
    ],
    [
      { what: 'disk-full', seconds: 9, reason: 'x'.repeat(201) },
      { status: 400, body: { code: 'invalid_value' } },
    ],
  ] as const)
    t.match(await post(body), expected, JSON.stringify(body).slice(0, 60));
});

t.test('[9.notify-mute] the command line mutes, lists and ends that', async (t) => {
  const { service } = await serve(t);
  const folder = makeFolder(t);
  const config = { server: { host: '127.0.0.1', port: service.port }, auth: { enabled: true, api_key: KEY } };
  writeFiles(folder, { 'config.json': JSON.stringify(config) });
  const run = (...words: readonly string[]) => changeMutes(words, optionsFor(folder));
  t.same(await run('mutes'), { text: 'nothing is muted\n', exitCode: 0 });
  const muted = await run('mute', 'disk-full', '2h', 'moving', 'files');
  t.match(muted, {
    text: /^disk-full {2}until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}moving files\n$/,
    exitCode: 0,
  });
  t.same(await run('mutes'), muted);
  t.same(await run('unmute', 'disk-full'), { text: 'nothing is muted\n', exitCode: 0 });
  t.match(await run('mute', 'nothing', '2h'), {
    text: /^the service did not do it: No rule and no machine has this name\.\n$/,
    exitCode: 1,
  });
});
