/** Conditions of watch rules: each series of a rule begins and ends separately. Pure: the caller owns time. */
import { isDeepStrictEqual } from 'node:util';
import type { WatchRule } from '../config/rows/watch-rows.ts';
import { REMEMBERED } from '../fairness/limits.ts';
import type { HistoryEvent } from '../wire/history.ts';
import { inWords } from './gaps.ts';
import type { SeriesPoint } from './history.ts';
import { matcherOf } from './query.ts';
import { fixedSentence } from './sentences.ts';

/** Rules by name. */
export type WatchRules = Readonly<Record<string, WatchRule>>;

/** An event without the processes of its moment. */
export type Turn = Omit<HistoryEvent, 'processes'>;

export interface Step {
  /** Unix seconds. */
  readonly at: number;
  /** Seconds on a clock that neither jumps nor counts suspended time. */
  readonly awake: number;
  /** A series without a value for longer than this has a gap: its values in between are unknown. */
  readonly gapSeconds: number;
  /** Everything was read that the history records: a series without a value is missing. */
  readonly isWhole?: boolean;
  readonly points: readonly SeriesPoint[];
}

/** One series under one rule, from when the condition first holds until it has ended. */
interface Condition {
  readonly rule: string;
  readonly series: string;
  unit: string;
  /** Between `begin` and `end`. */
  isOn: boolean;
  /** Awake time since which the value has been on the other side; undefined: it is not. */
  turningSince: number | undefined;
  /** Awake time of the last value. */
  seen: number;
}

/** Maximum time by which samples are early. */
const LEEWAY_SECONDS = 0.5;
/** If the two clocks differ by more than this, the machine has slept, or its clock was set. */
const JUMP_SECONDS = 2;

const NO_RULES: WatchRules = {};

export class Conditions {
  #rules = NO_RULES;
  /** Pattern of each rule. */
  #matchers: readonly (readonly [name: string, matches: (series: string) => boolean])[] = [];
  /** The rules that match a series, by its name. */
  readonly #rulesOf = new Map<string, readonly string[]>();
  readonly #conditions = new Map<string, Condition>();
  /** By the names of rules on missing values: the series, with the awake time of the last value. */
  readonly #expected = new Map<string, Map<string, number>>();
  #last: Pick<Step, 'at' | 'awake'> | undefined;

  /** Returns whether a condition holds whose event has not begun. */
  get isWaiting(): boolean {
    return [...this.#conditions.values()].some(({ isOn }) => !isOn);
  }

  /** Conditions of unchanged rules continue; those of others end. */
  setRules(rules: WatchRules, at: number): readonly Turn[] {
    const turns: Turn[] = [];
    for (const [key, condition] of this.#conditions) {
      const { rule, series, isOn } = condition;
      if (isDeepStrictEqual(rules[rule], this.#rules[rule])) continue;
      this.#conditions.delete(key);
      const text = `${titleOf(series)} is no longer watched: the rule was removed or changed`;
      if (isOn) turns.push({ at, rule, state: 'end', series, value: null, text });
    }
    for (const name of this.#expected.keys())
      if (!isDeepStrictEqual(rules[name], this.#rules[name])) this.#expected.delete(name);
    this.#rules = rules;
    this.#rulesOf.clear();
    this.#matchers = Object.entries(rules).map(([name, { series }]) => [name, matcherOf([series])] as const);
    return turns;
  }

  /** Returns the events that begin and end with the points of a sample. */
  step(step: Step): readonly Turn[] {
    const { at, awake, points } = step;
    const last = this.#last;
    this.#last = { at, awake };
    if (this.#matchers.length === 0) return [];
    // The values while the machine slept are unknown.
    if (last !== undefined && Math.abs(at - last.at - (awake - last.awake)) > JUMP_SECONDS)
      for (const condition of this.#conditions.values()) condition.turningSince = undefined;
    const turns = points.flatMap((point) =>
      point.value === null
        ? []
        : this.#rulesFor(point.name).flatMap((rule) => this.#judge(rule, point, step)),
    );
    return [...turns, ...this.#findMissing(step), ...this.#endSilent(step)];
  }

  #findMissing(step: Step): readonly Turn[] {
    const { awake, gapSeconds, isWhole = false } = step;
    const turns: Turn[] = [];
    for (const [name, { series, missing = false }] of Object.entries(this.#rules)) {
      if (!missing) continue;
      const seen = this.#seenBy(name);
      if (!series.includes('*') && !seen.has(series)) seen.set(series, awake);
      if (!isWhole) continue;
      for (const [each, at] of seen)
        if (awake - at > gapSeconds)
          turns.push(...this.#judge(name, { name: each, unit: '', value: null }, step));
    }
    return turns;
  }

  #seenBy(rule: string): Map<string, number> {
    const seen = this.#expected.get(rule) ?? new Map<string, number>();
    this.#expected.set(rule, seen);
    return seen;
  }

  #rulesFor(series: string): readonly string[] {
    const known = this.#rulesOf.get(series);
    if (known !== undefined) return known;
    if (this.#rulesOf.size >= REMEMBERED.seriesNames) this.#rulesOf.clear();
    const found = this.#matchers.flatMap(([name, matches]) => (matches(series) ? [name] : []));
    this.#rulesOf.set(series, found);
    return found;
  }

  #judge(name: string, { name: series, unit, value }: SeriesPoint, step: Step): readonly Turn[] {
    const rule = this.#rules[name];
    if (rule === undefined) return [];
    const { at, awake, gapSeconds } = step;
    if (rule.missing === true && value !== null) {
      const seen = this.#seenBy(name);
      if (seen.size < REMEMBERED.seriesNames || seen.has(series)) seen.set(series, awake);
    }
    const key = `${name} ${series}`;
    const known = this.#conditions.get(key);
    const holds = value === null || isBeyond(rule, value, known?.isOn === true);
    if (known === undefined && !holds) return [];
    const condition = known ?? {
      rule: name,
      series,
      unit,
      isOn: false,
      turningSince: undefined,
      seen: awake,
    };
    this.#conditions.set(key, condition);
    if (awake - condition.seen > gapSeconds) condition.turningSince = undefined;
    condition.seen = awake;
    if (holds === condition.isOn) condition.turningSince = undefined;
    else condition.turningSince ??= awake;
    const { isOn, turningSince } = condition;
    const hasTurned = turningSince !== undefined && awake - turningSince >= rule.for_seconds - LEEWAY_SECONDS;
    if (hasTurned) {
      condition.isOn = !isOn;
      condition.turningSince = undefined;
    }
    if (!condition.isOn && !holds) this.#conditions.delete(key);
    if (!hasTurned) return [];
    const text = textOf(rule, series, unit, value, holds);
    return [{ at, rule: name, state: holds ? 'begin' : 'end', series, value, text }];
  }

  /** A gap alone ends nothing; a series that remains absent does. */
  #endSilent({ at, awake, gapSeconds }: Step): readonly Turn[] {
    const turns: Turn[] = [];
    for (const [key, { rule: name, series, unit, isOn, seen }] of this.#conditions) {
      const rule = this.#rules[name];
      const patience = gapSeconds + (isOn ? (rule?.for_seconds ?? 0) : 0);
      if (rule === undefined || rule.missing === true || awake - seen <= patience) continue;
      this.#conditions.delete(key);
      const text = `${titleOf(series)} was ${limitOf(rule, unit)}, and has been unavailable for ${inWords(awake - seen)}`;
      if (isOn) turns.push({ at, rule: name, state: 'end', series, value: null, text });
    }
    return turns;
  }
}

/** `isOn`: the event has begun, so the value must come back as far as the rule says. */
function isBeyond(rule: WatchRule, value: number, isOn: boolean): boolean {
  const { above, below, clear_above, clear_below } = rule;
  if (above !== undefined) return isOn && clear_below !== undefined ? value >= clear_below : value > above;
  if (below === undefined) return false;
  return isOn && clear_above !== undefined ? value <= clear_above : value < below;
}

const withUnit = (value: number, unit: string) =>
  `${Math.round(value * 10) / 10}${unit === '' ? '' : ` ${unit}`}`;

/** Returns "Disk / used" for `disk.used_percent//`. */
function titleOf(series: string): string {
  const [, section = series, figure = '', subject = ''] = /^([a-z]+)\.([a-z_]+)\/?(.*)$/s.exec(series) ?? [];
  const words = [section, subject, figure.replace(/_percent$/, '').replaceAll('_', ' ')];
  const title = words.filter((word) => word !== '').join(' ');
  return title.replace(/^(?:cpu|gpu|.)/, (begin) => begin.toUpperCase());
}

function limitOf({ above, below }: WatchRule, unit: string): string {
  return above !== undefined ? `above ${withUnit(above, unit)}` : `below ${withUnit(below ?? 0, unit)}`;
}

function textOf(rule: WatchRule, series: string, unit: string, value: number | null, holds: boolean): string {
  if (value === null) return `${titleOf(series)} has had no value for ${inWords(rule.for_seconds)}`;
  if (rule.missing === true) return `${titleOf(series)} has values again: ${withUnit(value, unit)}`;
  const limit = limitOf(rule, unit);
  const fixed = fixedSentence(series, holds ? 'begin' : 'end', value);
  if (fixed !== undefined) return fixed;
  return holds
    ? `${titleOf(series)} has been ${limit} for ${inWords(rule.for_seconds)}: ${withUnit(value, unit)}`
    : `${titleOf(series)} is no longer ${limit}: ${withUnit(value, unit)}`;
}
