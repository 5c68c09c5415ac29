/** The rules of the configuration with the values that their series have now, from the running service. */
import { type LoadOptions, loadConfig } from '../config/load.ts';
import type { WatchRule } from '../config/rows/watch-rows.ts';
import { messageOf } from '../errors.ts';
import { matcherOf } from '../history/query.ts';
import { rulesIn } from '../history/rules.ts';
import type { HistoryPayload } from '../wire/history.ts';
import { askService, type Variables } from './ask-service.ts';
import { tableOf } from './output.ts';

interface RuleValue {
  readonly rule: string;
  readonly limit: string;
  /** Null: no series has that name now. */
  readonly series: string | null;
  readonly value: number | null;
  readonly unit: string;
}

export interface RuleValues {
  readonly rules: readonly RuleValue[];
  /** Why no value is known; null: they are. */
  readonly reason: string | null;
}

/** The command takes less than 2 s with what else it does. */
const ASK_LIMIT_MS = 1500;
/** Drives are read every ten minutes, and all else at least twice in a minute, unless that is set higher. */
const DRIVES_SECONDS = 660;
const STEP_SECONDS = 60;
const RECENT_SLOTS = 3;
/** Names in one request. */
const MAX_NAMES = 64;

/** The part of the history of these series; a name may have a comma, so each is a parameter. Rejects as `askService`. */
export async function askHistory(
  config: Parameters<typeof askService>[0],
  variables: Variables,
  series: readonly string[],
  query: Readonly<Record<string, number>>,
  timeoutMs: number,
): Promise<Pick<HistoryPayload, 'start' | 'step' | 'series' | 'marks'>> {
  const parameters = new URLSearchParams({ series: '' });
  for (const name of [...new Set(series)].slice(0, MAX_NAMES)) parameters.append('series', name);
  for (const [name, value] of Object.entries(query)) parameters.append(name, String(value));
  const question = { path: `api/history?${parameters}`, needsKey: false, timeoutMs };
  // The service of this configuration answers so; docs/api.md has the shape.
  return (await askService(config, variables, question)) as HistoryPayload;
}

/** Undefined where the configuration is wrong, which is reported elsewhere. Never rejects. `limitMs`: for tests. */
export async function findRuleValues(
  options: LoadOptions,
  limitMs = ASK_LIMIT_MS,
): Promise<RuleValues | undefined> {
  let config: ReturnType<typeof loadConfig>['config'];
  try {
    config = loadConfig(options).config;
  } catch {
    return undefined;
  }
  const rules = Object.entries(rulesIn(config.watch));
  if (rules.length === 0) return undefined;
  const blank = { series: null, value: null, unit: '' };
  try {
    const wanted = rules.map(([, { series }]) => series);
    const query = { since: -DRIVES_SECONDS, step: STEP_SECONDS };
    const { series } = await askHistory(config, options.surroundings.variables, wanted, query, limitMs);
    const found = Object.entries(series).map(([name, { unit, mean }]) => {
      const recent = name.startsWith('drive.') ? mean : mean.slice(-RECENT_SLOTS);
      const value = recent.findLast((each) => each !== null) ?? null;
      return { series: name, unit, value };
    });
    const rows = rules.flatMap(([rule, terms]) => {
      const matches = matcherOf([terms.series]);
      const own = found.filter(({ series: name }) => matches(name));
      return (own.length === 0 ? [blank] : own).map((each) => ({ rule, limit: limitOf(terms), ...each }));
    });
    return { rules: rows, reason: null };
  } catch (error) {
    // A hub has no rules, and before the first start only those that ship ready are there.
    if (Object.keys(config.watch.rules).length === 0) return undefined;
    const rows = rules.map(([rule, terms]) => ({ rule, limit: limitOf(terms), ...blank }));
    return { rules: rows, reason: messageOf(error) };
  }
}

function limitOf({ above, below, clear_above: clearAbove, clear_below: clearBelow }: WatchRule): string {
  if (above !== undefined)
    return `above ${above}${clearBelow === undefined ? '' : `, until below ${clearBelow}`}`;
  if (below === undefined) return 'missing';
  return `below ${below}${clearAbove === undefined ? '' : `, until above ${clearAbove}`}`;
}

/** Returns lines for people. */
export function describeRules({ rules, reason }: RuleValues): readonly string[] {
  const rows = rules.map(({ rule, limit, series, value, unit }) => [
    rule,
    limit,
    series ?? '',
    reason !== null ? '' : value === null ? 'no value now' : `now ${value} ${unit}`.trimEnd(),
  ]);
  const title = reason === null ? 'Rules:' : `Rules (their values now are unknown: ${reason}):`;
  return [title, ...tableOf(rows).trimEnd().split('\n')];
}
