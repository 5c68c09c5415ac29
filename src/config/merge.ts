/** Merges the settings of all files: conflicts, command-line options, and values that depend on others. */
import { isDeepStrictEqual } from 'node:util';
import { type Findings, placed, refuse, type Setting } from './findings.ts';
import { formatPlace } from './problems.ts';
import { accepts, ROWS } from './schema.ts';

/** Values from the command line: dotted key → value and the option's name. They override files. */
export type Overrides = ReadonlyMap<string, { readonly value: unknown; readonly option: string }>;

/** Merges the files' settings; a key that two files set differently is a problem that names both places. */
export function mergeSettings(findings: Findings): Map<string, Setting> {
  const merged = new Map<string, Setting>();
  for (const setting of findings.settings) {
    const { key, value, file, line } = setting;
    const earlier = merged.get(key);
    if (earlier === undefined) merged.set(key, setting);
    else if (earlier.file !== file && !isDeepStrictEqual(earlier.value, value)) {
      const message = `set differently at ${formatPlace(earlier.file, earlier.line)}; remove one of the two`;
      findings.problems.push(placed(file, { line, path: [key], message }));
    }
  }
  return merged;
}

/** Applies the values of the command line. */
export function applyOverrides(
  overrides: Overrides,
  settings: Map<string, Setting>,
  findings: Findings,
): void {
  for (const [key, { value, option }] of overrides) {
    const file = `option ${option}`;
    const row = ROWS.get(key);
    if (row === undefined) throw new Error(`${file} sets ${key}, which is not a key`);
    if (accepts(row, value)) settings.set(key, { key, value, file, line: undefined });
    else findings.problems.push(refuse({ file, line: undefined, path: [key] }, row, value));
  }
}

const INTERVAL = 'stats.stream_interval_seconds';
const MIN_INTERVAL_SECONDS = 1;

/** Replaces an interval below the contract's minimum with the minimum. */
export function clampInterval(settings: Map<string, Setting>, findings: Findings): void {
  const setting = settings.get(INTERVAL);
  if (setting === undefined || Number(setting.value) >= MIN_INTERVAL_SECONDS) return;
  settings.set(INTERVAL, { ...setting, value: MIN_INTERVAL_SECONDS });
  const place = formatPlace(setting.file, setting.line);
  const text = `${place}: ${INTERVAL}: ${setting.value} is below the minimum; using ${MIN_INTERVAL_SECONDS}`;
  findings.notices.push({ level: 'warn', text });
}

const SLEEP = 'features.enable_sleep';
const HIBERNATE = 'features.enable_hibernate';
const MAPS = [...ROWS].flatMap(([key, { entries }]) => (entries === undefined ? [] : [key]));

/** Dotted key → value, with all entries of a map under one key and hibernate following sleep; keys that are not set are absent. */
export function collectValues(settings: ReadonlyMap<string, Setting>): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  // No prototype, so that a client's "constructor" finds nothing.
  const maps = new Map(MAPS.map((key): [string, Record<string, unknown>] => [key, Object.create(null)]));
  for (const { key, value } of settings.values()) {
    const found = MAPS.find((map) => key.startsWith(`${map}.`));
    const map = found === undefined ? undefined : maps.get(found);
    if (found === undefined || map === undefined) values.set(key, value);
    else map[key.slice(found.length + 1)] = value;
  }
  for (const [key, map] of maps) values.set(key, map);
  if (!values.has(HIBERNATE) && values.has(SLEEP)) values.set(HIBERNATE, values.get(SLEEP));
  return values;
}

/** Dotted key → `file:line`, `default` or `option --port`; each entry of a named map has one of its own. */
export function listOrigins(settings: ReadonlyMap<string, Setting>): ReadonlyMap<string, string> {
  const origins = new Map([...ROWS.keys()].map((key): [string, string] => [key, 'default']));
  for (const { key, file, line } of settings.values()) origins.set(key, formatPlace(file, line));
  if (!settings.has(HIBERNATE)) origins.set(HIBERNATE, `default: follows ${SLEEP}`);
  return origins;
}
