/** The settings of all files, made one: conflicts, options of the command line, values that follow from others. */
import { isDeepStrictEqual } from 'node:util';
import { type Findings, placed, refuse, type Setting } from './findings.ts';
import { formatPlace } from './problems.ts';
import { accepts, type LaunchEntry, ROWS } from './schema.ts';

/** Values from the command line: dotted key → value and the option's name. They win over files. */
export type Overrides = ReadonlyMap<string, { readonly value: unknown; readonly option: string }>;

/** Unites the files' settings; a key that two files set differently is a problem that names both places. */
export function mergeSettings(findings: Findings): Map<string, Setting> {
  const merged = new Map<string, Setting>();
  for (const setting of findings.settings) {
    const { key, value, file, line } = setting;
    const earlier = merged.get(key);
    if (earlier === undefined) merged.set(key, setting);
    else if (earlier.file !== file && !isDeepStrictEqual(earlier.value, value)) {
      const message = `set differently at ${formatPlace(earlier.file, earlier.line)}`;
      findings.problems.push(placed(file, { line, path: [key], message }));
    }
  }
  return merged;
}

/** Puts the command line's values in. */
export function applyOverrides(
  overrides: Overrides,
  settings: Map<string, Setting>,
  findings: Findings,
): void {
  for (const [key, { value, option }] of overrides) {
    const file = `option ${option}`;
    const row = ROWS.get(key);
    if (row === undefined) throw new Error(`${file} sets ${key}, which is no key`);
    if (accepts(row, value)) settings.set(key, { key, value, file, line: undefined });
    else findings.problems.push(refuse({ file, line: undefined, path: [key] }, row, value));
  }
}

const INTERVAL = 'stats.stream_interval_seconds';
const FEWEST_SECONDS = 1;

/** An interval below the contract's minimum counts as the minimum. */
export function clampInterval(settings: Map<string, Setting>, findings: Findings): void {
  const setting = settings.get(INTERVAL);
  if (setting === undefined || Number(setting.value) >= FEWEST_SECONDS) return;
  settings.set(INTERVAL, { ...setting, value: FEWEST_SECONDS });
  const place = formatPlace(setting.file, setting.line);
  const text = `${place}: ${INTERVAL}: ${setting.value} is below the minimum, ${FEWEST_SECONDS} is used`;
  findings.notices.push({ level: 'warn', text });
}

const SLEEP = 'features.enable_sleep';
const HIBERNATE = 'features.enable_hibernate';
const LAUNCH = 'processes.launch';

/** Dotted key → value, apps gathered, hibernate following sleep; keys that are not set are left out. */
export function collectValues(settings: ReadonlyMap<string, Setting>): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  // Without a prototype: a client's "constructor" must not find anything.
  const apps: Record<string, LaunchEntry> = Object.create(null);
  for (const { key, value } of settings.values()) {
    // Only judged entries have such a key.
    if (key.startsWith(`${LAUNCH}.`)) apps[key.slice(LAUNCH.length + 1)] = value as LaunchEntry;
    else values.set(key, value);
  }
  values.set(LAUNCH, apps);
  if (!values.has(HIBERNATE) && values.has(SLEEP)) values.set(HIBERNATE, values.get(SLEEP));
  return values;
}

/** Dotted key → `file:line`, `default` or `option --port`; an app of `processes.launch` has a row of its own. */
export function listOrigins(settings: ReadonlyMap<string, Setting>): ReadonlyMap<string, string> {
  const origins = new Map([...ROWS.keys()].map((key): [string, string] => [key, 'default']));
  for (const { key, file, line } of settings.values()) origins.set(key, formatPlace(file, line));
  if (!settings.has(HIBERNATE)) origins.set(HIBERNATE, `default: follows ${SLEEP}`);
  return origins;
}
