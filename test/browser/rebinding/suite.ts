/** The rebinding proof itself, on its private machine. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { until } from '../../helpers/until.ts';
import type { Browser } from '../attack/tab.ts';
import { type Front, type Ground, recorded, startGround, useOwnHosts, type Visit, visit } from './fronts.ts';
import { ADDRESS_SPELLINGS, STRANGERS_NAMES } from './names.ts';
import { PATHS, type Tries } from './visit.ts';

/** The visits of one browser. */
export interface Run {
  readonly version: string;
  readonly visits: readonly Visit[];
}

/** Longer than any action takes that was admitted by mistake. */
const AFTERMATH_MS = 1500;

const all = (succeeded: boolean): Tries => ({
  usage: succeeded,
  processes: succeeded,
  socket: succeeded,
  sleep: succeeded,
});
const REFUSED = Object.fromEntries(Object.keys(PATHS).map((key) => [key, '403 host_not_allowed']));

async function visitAll(t: Test, ground: Ground, front: Front): Promise<readonly Visit[]> {
  const { site, isGuarded } = front;
  const visits: Visit[] = [];
  for (const name of STRANGERS_NAMES) {
    const before = await recorded(front);
    const made = await visit(ground, front, name);
    visits.push(made);
    const what = `guard ${isGuarded ? 'on' : 'off'}: ${name.name} re-pointed to ${site.address}`;
    t.strictSame(made.tries, all(!isGuarded), `${what} ${isGuarded ? 'gets nothing' : 'gets in'}`);
    if (isGuarded) t.strictSame(made.answers, REFUSED, `${what}: the service has refused each attempt`);
    else {
      await until(async () => (await recorded(front)) !== before);
      t.pass(`${what}: the service has slept`);
    }
  }
  return visits;
}

/** Asserts all of it in one browser. */
export async function proveNames(
  t: Test,
  startBrowser: (socksPort: number) => Promise<Browser>,
): Promise<Run> {
  const ground = await startGround(t, startBrowser);
  const { browser, fronts } = ground;
  const visits = (await Promise.all(fronts.map((front) => visitAll(t, ground, front)))).flat();
  await sleep(AFTERMATH_MS);
  for (const front of fronts.filter(({ isGuarded }) => isGuarded))
    t.equal(await recorded(front), 0, `guard on: ${front.site.place} has recorded no power action`);
  await t.test("the owner's own names work", async (t) => {
    const used = await useOwnHosts(t, ground);
    for (const [host, tries] of used) t.strictSame(tries, all(true), host);
    t.comment(`figure: ${browser.version}: all of ${used.size} own names and addresses work`);
  });
  await t.test('numbers are addresses: no name server is asked', async (t) => {
    const [front] = fronts;
    for (const spelling of ADDRESS_SPELLINGS) {
      const host = await front?.tab.evaluate(`new URL(${JSON.stringify(`http://${spelling}/`)}).hostname`);
      t.not(net.isIP((host ?? '').replace(/^\[|\]$/g, '')), 0, `${spelling} is ${host}`);
    }
  });
  const into = (isGuarded: boolean) => {
    const own = visits.filter((made) => made.isGuarded === isGuarded);
    const inside = own.filter(({ tries }) => tries !== undefined && Object.values(tries).includes(true));
    return `${inside.length} of ${own.length}`;
  };
  t.comment(
    `figure: ${browser.version}: ${STRANGERS_NAMES.length} names at ${new Set(fronts.map(({ site }) => site.address)).size} addresses: ${into(true)} get in with the guard, ${into(false)} without it`,
  );
  return { version: browser.version, visits };
}
