/** The siege: all attacks in random order, several at a time, among honest clients that must not notice. */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { below, type Random, randomOf } from '../http/mutate.ts';
import { Attacker } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import { Observations } from './observations.ts';
import { type Besieged, type Form, startBesieged } from './service.ts';
import type { Attack } from './target.ts';
import { readUsage, type Usage, usualOf } from './usage.ts';
import { judge } from './verdict.ts';
import { type Report, Witness } from './witness.ts';

/** Attacks that run at the same time. */
export const WORKERS = 3;
const ATTACK_SECONDS = 5;
/** Enough for the phase of the events, and for the memory of a service that has just started. */
const IDLE_SECONDS = 12;
const RECOVERY_SECONDS = 60;
/** The recovery ends earlier when this many readings in a row are good. */
const GOOD_READINGS = 3;

/** The names of the only attacks to run: to find the one that breaks something. */
const ONLY = process.env['HOSTWIRE_SIEGE_ONLY'];

/** How a siege went. */
export interface Siege {
  readonly form: Form;
  readonly observations: Observations;
  readonly idle: ReturnType<typeof usualOf>;
  /** The last readings, when the attackers have left. */
  readonly after: ReturnType<typeof usualOf>;
  readonly recoverySeconds: number;
  readonly last: Report | undefined;
  /** Attacks that failed on their own, and so attacked nothing. */
  readonly failures: readonly string[];
  readonly besieged: Besieged;
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.flatMap(() => rest.splice(below(rest.length, random), 1));
}

/** Reads the service's usage once per second, with the last report of the honest clients. */
class Observer {
  readonly observations = new Observations();
  readonly #besieged: Besieged;
  readonly #witness: Witness;
  last: Report | undefined;

  constructor(besieged: Besieged) {
    this.#besieged = besieged;
    this.#witness = Witness.start(besieged.place, (report) => this.#note(report));
  }

  #note(report: Report): void {
    this.last = report;
    let usage: Usage;
    try {
      usage = readUsage(this.#besieged.service, this.#besieged.place.tree);
    } catch {
      // The service has ended, which the verdict finds.
      return;
    }
    this.observations.seconds.push({ atMs: performance.now(), report, usage });
  }

  /** The usage in the last `count` seconds. */
  recent(count: number): ReturnType<typeof usualOf> {
    return usualOf(this.observations.seconds.slice(-count).map(({ usage }) => usage));
  }

  stop(): Promise<void> {
    return this.#witness.stop();
  }
}

/** Runs attacks in all workers until the time is up; returns the attacks that failed on their own. */
async function attackFor(
  besieged: Besieged,
  observations: Observations,
  seconds: number,
  random: Random,
): Promise<readonly string[]> {
  const { place } = besieged;
  const attacks = ATTACKS.filter(({ needs }) => needs === undefined || place[needs] !== undefined).filter(
    ({ name, isForService }) =>
      (ONLY === undefined || name.includes(ONLY)) && !(isForService === true && place.hub !== undefined),
  );
  const failures: string[] = [];
  const untilMs = performance.now() + seconds * 1000;
  let deck: Attack[] = [];
  const next = (): Attack => {
    if (deck.length === 0) deck = shuffled(attacks, random);
    const attack = deck.pop();
    if (attack === undefined) throw new Error(`there is no attack "${ONLY}"`);
    return attack;
  };
  const runWorker = async (worker: number): Promise<void> => {
    let attacker = Attacker.start();
    while (performance.now() < untilMs) {
      if (attacker.hasEnded) attacker = Attacker.start();
      const attack = next();
      const fromMs = performance.now();
      const order = { name: attack.name, place, worker, seed: below(2 ** 31, random) };
      const wanted = attack.seconds ?? ATTACK_SECONDS;
      const left = Math.max(1, (untilMs - fromMs) / 1000);
      const outcome = await attacker.run({ ...order, seconds: Math.min(wanted, left) });
      const { error, ...done } = outcome;
      observations.runs.push({ attack, fromMs, toMs: performance.now(), ...done });
      if (error === undefined) continue;
      failures.push(`${attack.name}: ${error}`);
      await sleep(1000);
    }
    await attacker.stop();
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => runWorker(worker)));
  return failures;
}

/** Waits for memory and descriptors to come back; returns the seconds that it took. */
async function recover(
  observer: Observer,
  idle: ReturnType<typeof usualOf>,
  slackMib: number,
): Promise<number> {
  const isGood = () => {
    const { memoryMib, descriptors } = observer.recent(GOOD_READINGS);
    return memoryMib <= idle.memoryMib + slackMib && descriptors <= idle.descriptors;
  };
  for (let second = 1; second <= RECOVERY_SECONDS; second++) {
    await sleep(1000);
    if (second >= GOOD_READINGS && isGood()) return second;
  }
  return RECOVERY_SECONDS;
}

/** Besieges a service of `form` for `seconds`, and judges it. */
export async function besiege(t: Test, form: Form, seconds: number, seed: number): Promise<Siege> {
  const besieged = await startBesieged(t, form, WORKERS);
  const observer = new Observer(besieged);
  t.teardown(() => observer.stop());
  await sleep(IDLE_SECONDS * 1000);
  const idle = observer.recent(5);
  const { observations } = observer;
  observations.seconds.length = 0;
  const failures = await attackFor(besieged, observations, seconds, randomOf(seed));
  const recoverySeconds = await recover(observer, idle, 16);
  const after = observer.recent(GOOD_READINGS);
  const siege: Siege = {
    form,
    observations,
    idle,
    after,
    recoverySeconds,
    last: observer.last,
    failures,
    besieged,
  };
  await judge(t, siege);
  return siege;
}
