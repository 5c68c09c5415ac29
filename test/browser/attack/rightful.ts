/** Legitimate use that must work while attacks fail: the owner's page, a page with the key, a listed page. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { SERVICE_ADDRESS } from './names.ts';
import type { Aim, Row, Surroundings } from './row.ts';
import { page } from './scripts.ts';
import type { Siege } from './siege.ts';
import { KEY, SECRETS, type Victim } from './victim.ts';

const inPage = (code: string) => (aim: Aim, around: Surroundings) => ({ page: page(aim, around, code) });

const FROM_LISTED = {
  from: 'listed',
  does: 'act',
  targets: ['power', 'media', 'process'],
  method: '',
} as const;
const READ_LISTED = {
  ...FROM_LISTED,
  does: 'read',
  targets: ['stats', 'media', 'process', 'power'],
} as const;

/** A listed origin needs no key. */
const LISTED_ROWS: readonly Row[] = [
  {
    ...FROM_LISTED,
    id: 'listed-fetch',
    stage: inPage(
      `attempt(() => fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: aim.body ?? '{}' }).then(readText));`,
    ),
  },
  { ...READ_LISTED, id: 'listed-read', stage: inPage('attempt(() => fetch(url).then(readText));') },
  {
    ...READ_LISTED,
    id: 'listed-event-source',
    targets: ['stats'],
    stage: inPage(`new EventSource(aim.service + '/api/stream').onmessage = (event) => say(event.data);`),
  },
  {
    ...FROM_LISTED,
    id: 'listed-socket',
    targets: ['power', 'media', 'process', 'stats'],
    stage: inPage(`const socket = new WebSocket(aim.service.replace('http', 'ws') + '/api/ws');
      socket.onopen = () => socket.send(aim.message);
      socket.onmessage = (event) => say(event.data);`),
  },
];

const WITH_KEY = `authorization: 'Bearer ${KEY}'`;

/** The key is sufficient for any page. */
const KEYED_ROWS: readonly Row[] = [
  {
    ...FROM_LISTED,
    from: 'foreign',
    id: 'keyed-fetch',
    stage: inPage(
      `attempt(() => fetch(url, { method: 'POST', headers: { ${WITH_KEY}, 'content-type': 'application/json' }, body: aim.body ?? '{}' }).then(readText));`,
    ),
  },
  {
    ...READ_LISTED,
    from: 'foreign',
    id: 'keyed-read',
    stage: inPage(`attempt(() => fetch(url, { headers: { ${WITH_KEY} } }).then(readText));`),
  },
  {
    ...FROM_LISTED,
    from: 'foreign',
    id: 'keyed-socket',
    targets: ['power', 'media', 'process', 'stats'],
    stage: inPage(`const socket = new WebSocket(aim.service.replace('http', 'ws') + '/api/ws?api_key=${KEY}');
      socket.onopen = () => socket.send(aim.message);
      socket.onmessage = (event) => say(event.data);`),
  },
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
