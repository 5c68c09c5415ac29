/** The rebinding proof itself, on its private machine. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { until } from '../../helpers/until.ts';
import type { Browser } from '../attack/tab.ts';
import { type Front, type Ground, recorded, startGround, useOwnHosts, visit } from './fronts.ts';
import { ADDRESS_SPELLINGS, STRANGERS_NAMES } from './names.ts';
import { PATHS, type Tries } from './visit.ts';

/** Longer than any action takes that was admitted by mistake. */
const AFTERMATH_MS = 1500;

const all = (succeeded: boolean): Tries => ({
  usage: succeeded,
  processes: succeeded,
  socket: succeeded,
  sleep: succeeded,
});
const REFUSED = Object.fromEntries(Object.keys(PATHS).map((key) => [key, '403 host_not_allowed']));

/** Returns how many of the names got in. */
async function visitAll(t: Test, ground: Ground, front: Front): Promise<number> {
  const { site, isGuarded } = front;
  let inside = 0;
  for (const name of STRANGERS_NAMES) {
    const before = await recorded(front);
    const made = await visit(ground, front, name);
    if (made.tries !== undefined && Object.values(made.tries).includes(true)) inside++;
    const what = `guard ${isGuarded ? 'on' : 'off'}: ${name.name} (${name.kind}) re-pointed to ${site.address}`;
    t.strictSame(made.tries, all(!isGuarded), `${what} ${isGuarded ? 'gets nothing' : 'gets in'}`);
    if (isGuarded) t.strictSame(made.answers, REFUSED, `${what}: the service has refused each attempt`);
    else {
      await until(async () => (await recorded(front)) !== before);
      t.pass(`${what}: the service has slept`);
    }
  }
  return inside;
}

/** Asserts all of it in one browser. */
export async function proveNames(
  t: Test,
  startBrowser: (socksPort: number) => Promise<Browser>,
): Promise<void> {
  const ground = await startGround(t, startBrowser);
  const { browser, fronts } = ground;
  const inside = await Promise.all(fronts.map((front) => visitAll(t, ground, front)));
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
    const counts = inside.filter((_, at) => fronts[at]?.isGuarded === isGuarded);
    return `${counts.reduce((sum, count) => sum + count, 0)} of ${counts.length * STRANGERS_NAMES.length}`;
  };
  t.comment(
    `figure: ${browser.version}: ${STRANGERS_NAMES.length} names at ${new Set(fronts.map(({ site }) => site.address)).size} addresses: ${into(true)} get in with the guard, ${into(false)} without it`,
  );
}
