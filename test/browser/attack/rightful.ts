/** Legitimate use that must work while attacks fail: the owner's page, a page with the key, a listed page. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { SERVICE_ADDRESS } from './names.ts';
import type { Row, Target } from './row.ts';
import { inPage, rowsLike } from './scripts.ts';
import type { Siege } from './siege.ts';
import { KEY, SECRETS, type Victim } from './victim.ts';

const TARGETS: readonly Target[] = ['power', 'media', 'process'];
const WITH_STATS: readonly Target[] = [...TARGETS, 'stats'];
const JSON_TYPE = `'content-type': 'application/json'`;
const WITH_KEY = `authorization: 'Bearer ${KEY}'`;

const acting = (headers: string) =>
  inPage(
    `attempt(() => fetch(url, { method: 'POST', headers: { ${headers} }, body: aim.body ?? '{}' }).then(readText));`,
  );

const onSocket = (query: string) =>
  inPage(`const socket = new WebSocket(aim.service.replace('http', 'ws') + '/api/ws${query}');
    socket.onopen = () => socket.send(aim.message);
    socket.onmessage = (event) => say(event.data);`);

/** A listed origin needs no key. */
const listed = rowsLike({ from: 'listed', does: 'act', targets: TARGETS });
const LISTED_ROWS: readonly Row[] = [
  listed('listed-fetch', '', acting(JSON_TYPE)),
  listed('listed-read', '', inPage('attempt(() => fetch(url).then(readText));'), {
    does: 'read',
    targets: WITH_STATS,
  }),
  listed(
    'listed-event-source',
    '',
    inPage(`new EventSource(aim.service + '/api/stream').onmessage = (event) => say(event.data);`),
    { does: 'read', targets: ['stats'] },
  ),
  listed('listed-socket', '', onSocket(''), { targets: WITH_STATS }),
];

/** The key is sufficient for any page. */
const keyed = rowsLike({ from: 'foreign', does: 'act', targets: TARGETS });
const KEYED_ROWS: readonly Row[] = [
  keyed('keyed-fetch', '', acting(`${WITH_KEY}, ${JSON_TYPE}`)),
  keyed('keyed-read', '', inPage(`attempt(() => fetch(url, { headers: { ${WITH_KEY} } }).then(readText));`), {
    does: 'read',
    targets: WITH_STATS,
  }),
  keyed('keyed-socket', '', onSocket(`?api_key=${KEY}`), { targets: WITH_STATS }),
];

/** The dashboard itself is open in the tab: its origin asks for `path`. */
const fromDashboard = (path: string, init = '{}') =>
  `fetch(${JSON.stringify(path)}, ${init}).then(async (answer) => answer.status + ' ' + (await answer.text()))`;

/** Path and body. */
const ACTS = {
  power: ['/api/pw/sleep', ''],
  media: ['/api/media/control', '{"action":"pause"}'],
  process: ['/api/processes/kill', '{"pid":PID}'],
} as const;

async function counted(
  victim: Victim,
  target: 'power' | 'media' | 'process',
  before: number,
): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if ((await victim.count(target)) > before) return true;
    await sleep(20);
  }
  return false;
}

export async function checkRightfulUses(t: Test, { fronts }: Siege): Promise<void> {
  for (const { victim, attempts, tab } of fronts.filter(({ victim }) => victim.isGuarded)) {
    const rows = victim.auth === 'off' ? LISTED_ROWS : [...LISTED_ROWS, ...KEYED_ROWS];
    for (const row of rows)
      for (const target of row.targets) {
        const { succeeded, loot } = await attempts.attack(row, target, SERVICE_ADDRESS, true);
        t.ok(succeeded, `auth ${victim.auth}: ${row.id} for ${target} works`, { loot });
      }
    await tab.goto(`${victim.service.baseUrl}/`);
    for (let tries = 0; tries < 250; tries++) {
      if (/\d %/.test(await tab.evaluate('document.body?.innerText ?? ""'))) break;
      await sleep(20);
    }
    t.match(
      await tab.evaluate('document.body.innerText'),
      /\d %/,
      "the owner's dashboard shows live numbers",
    );
    for (const target of ['power', 'media', 'process'] as const) {
      const before = await victim.count(target);
      const [path, body] = ACTS[target];
      const json = { 'content-type': 'application/json' };
      const given = body === '' ? {} : { body: body.replace('PID', String(victim.pid)), headers: json };
      const init = { method: 'POST', ...given };
      t.match(
        await tab.evaluate(fromDashboard(path, JSON.stringify(init))),
        /^200 /,
        `its page may act on ${target}`,
      );
      t.ok(await counted(victim, target, before), `and ${target} follows`);
    }
    t.match(await tab.evaluate(fromDashboard('/api/usage')), SECRETS.stats, 'and it reads');
  }
}
