/** `hostwire watch try`: runs a rule over the recorded history of the running service. */
import { quote } from '../clean.ts';
import { type LoadOptions, loadConfig } from '../config/load.ts';
import { messageOf } from '../errors.ts';
import { PLACES } from '../fairness/limits.ts';
import { Conditions, type Turn, type WatchRules } from '../history/conditions.ts';
import { inWords } from '../history/gaps.ts';
import { rulesIn } from '../history/rules.ts';
import { sentenceOf } from '../history/sentences.ts';
import type { HistoryMark, HistoryPayload } from '../wire/history.ts';
import { inLine, type Output } from './output.ts';
import { askHistory } from './rule-values.ts';

const DAYS = 7;
const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3600;
const STEP_SECONDS = 10;
const ASK_LIMIT_MS = 10_000;
/** Recorded whenever everything is: tells a series without a value from a time without a recording. */
const ALWAYS = 'cpu.load';

type Part = Pick<HistoryPayload, 'start' | 'step' | 'series' | 'marks'>;

/** Returns exit code 1 if there is no such rule or the service does not answer. Throws if the configuration is invalid. */
export async function tryRule(
  name: string,
  options: LoadOptions,
  nowSeconds = Date.now() / 1000,
): Promise<Output> {
  const { config } = loadConfig(options);
  const rules = rulesIn(config.watch);
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  if (rule === undefined) {
    const known = Object.keys(rules).join(', ') || 'none';
    return { text: `${quote(name)} is not a rule; the rules are: ${known}\n`, exitCode: 1 };
  }
  const ask = (since: number, until: number, step: number) =>
    askHistory(
      config,
      options.surroundings.variables,
      [rule.series, ALWAYS],
      { since, until, step },
      ASK_LIMIT_MS,
    );
  const trial = new Trial({ [name]: rule });
  try {
    // Parts that share no slot.
    const from = Math.floor(nowSeconds / STEP_SECONDS) * STEP_SECONDS - DAYS * DAY_SECONDS;
    const { series } = await ask(from, nowSeconds, HOUR_SECONDS);
    // Three numbers per slot, of which the grid may add one.
    const slots = Math.floor(PLACES.numbers.max / (3 * Math.max(1, Object.keys(series).length))) - 1;
    const length = Math.min(DAY_SECONDS, Math.max(HOUR_SECONDS, slots * STEP_SECONDS));
    for (let at = from; at < nowSeconds; at += length) {
      trial.take(await ask(at, Math.min(nowSeconds, at + length), STEP_SECONDS));
    }
  } catch (error) {
    return { text: `the service did not return its history: ${messageOf(error)}\n`, exitCode: 1 };
  }
  const { turns, recordedSeconds } = trial;
  const lines = turns.map((turn) => {
    const time = new Date(turn.at * 1000).toLocaleString('sv-SE');
    return `${time}  ${turn.state === 'begin' ? 'begins' : 'ends  '}  ${inLine(sentenceOf(turn, rule))}\n`;
  });
  const begins = turns.filter(({ state }) => state === 'begin').length;
  const summary = `${name}: ${begins} ${begins === 1 ? 'event' : 'events'} in ${inWords(recordedSeconds)} of recorded history\n`;
  return { text: `${lines.join('')}${summary}`, exitCode: 0 };
}

/** A rule over the parts of a history, the oldest first. */
class Trial {
  readonly #conditions = new Conditions();
  readonly #suspends: HistoryMark[] = [];
  /** Drives are read every ten minutes, and rules see the last values in between. */
  readonly #drives = new Map<string, number>();
  readonly turns: Turn[] = [];
  recordedSeconds = 0;

  constructor(rules: WatchRules) {
    this.#conditions.setRules(rules, 0);
  }

  take({ start, step, series, marks }: Part): void {
    this.#suspends.push(...marks.filter(({ kind }) => kind === 'suspend'));
    const columns = Object.entries(series);
    for (const [i, load] of (series[ALWAYS]?.mean ?? []).entries()) {
      if (load === null) continue;
      this.recordedSeconds += step;
      const at = start + i * step;
      const asleep = this.#suspends.reduce((sum, mark) => sum + (mark.at <= at ? (mark.seconds ?? 0) : 0), 0);
      const points = columns.map(([name, { unit, mean }]) => {
        const value = mean[i] ?? this.#drives.get(name) ?? null;
        if (value !== null && name.startsWith('drive.')) this.#drives.set(name, value);
        return { name, unit, value };
      });
      const now = { at, awake: at - asleep, gapSeconds: 2 * step, isWhole: true, points };
      this.turns.push(...this.#conditions.step(now));
    }
  }
}
