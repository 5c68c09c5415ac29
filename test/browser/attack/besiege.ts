/** Every attack on every victim: each succeeds without the guard, none with it, and nothing has happened. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Outcome } from './attempts.ts';
import { SERVICE_ADDRESS, SERVICE_NAME } from './names.ts';
import type { Row, Target } from './row.ts';
import type { Front, Siege } from './siege.ts';
import type { Auth } from './victim.ts';

/** An outcome and whose it is. */
export interface Finding extends Outcome {
  readonly isGuarded: boolean;
  readonly auth: Auth;
}

/** Longer than any action takes that was admitted by mistake. */
const AFTERMATH_MS = 1500;

const MOST_TRIES = 3;

interface Shot {
  readonly target: Target;
  readonly host: string;
}

/**
 * The targets and hosts that a row is tried on. The short form takes one target for each kind of access, so that the
 * rows together use all of them. It calls the service by its address for one kind and by its name for the other.
 * Services with and without the guard get the same shots.
 */
function shotsAt(row: Row, index: number, auth: Auth, isFull: boolean): readonly Shot[] {
  const hosts = row.needsTrust === true ? [SERVICE_ADDRESS] : [SERVICE_ADDRESS, SERVICE_NAME];
  if (isFull) return row.targets.flatMap((target) => hosts.map((host) => ({ target, host })));
  const turn = auth === 'off' ? 0 : 1;
  const target = row.targets[(index + turn) % row.targets.length];
  return target === undefined ? [] : [{ target, host: hosts[turn] ?? SERVICE_ADDRESS }];
}

const describe = ({ exchanges, loot }: Outcome) => ({
  exchanges: exchanges.map(({ method, path, status }) => `${method} ${path} ${status}`),
  loot: loot.map((text) => text.slice(0, 200)),
});

async function assail(
  t: Test,
  { victim, attempts }: Front,
  rows: readonly Row[],
  isFull: boolean,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const { isGuarded, auth } = victim;
  for (const [index, row] of rows.entries())
    for (const { target, host } of shotsAt(row, index, auth, isFull)) {
      let outcome = await attempts.attack(row, target, host, !isGuarded);
      // A browser may be too busy to make the attempt at all; one that the guard let through is never made again.
      for (
        let tries = 1;
        tries < MOST_TRIES && !outcome.succeeded && (!isGuarded || !outcome.hasArrived);
        tries++
      )
        outcome = await attempts.attack(row, target, host, !isGuarded);
      findings.push({ ...outcome, isGuarded, auth });
      const what = `${row.id} on ${target} of ${host}, auth ${auth}`;
      const seen = describe(outcome);
      if (!isGuarded) t.ok(outcome.succeeded, `guard off: ${what} succeeds`, { seen });
      else {
        t.notOk(outcome.succeeded, `guard on: ${what} fails`, { seen });
        t.ok(outcome.hasArrived, `guard on: ${what} has come to the service`, { seen });
      }
    }
  return findings;
}

/** Asserts all of it. `isFull`: every row on each of its targets, by address and by name. */
export async function besiege(
  t: Test,
  { browser, fronts }: Siege,
  rows: readonly Row[],
  isFull: boolean,
): Promise<readonly Finding[]> {
  const possible = rows.filter(({ only }) => only === undefined || only === browser.engine);
  const found = await Promise.all(fronts.map((front) => assail(t, front, possible, isFull)));
  await sleep(AFTERMATH_MS);
  for (const { victim } of fronts.filter(({ victim }) => victim.isGuarded))
    t.strictSame(
      await victim.counts(),
      { power: 0, media: 0, process: 0 },
      `guard on, auth ${victim.auth}: nothing has happened to the machine`,
    );
  return found.flat();
}
