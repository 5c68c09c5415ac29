/** Merges the settings of all sources: files beside each other, then environment variables, then command-line options. */
import { isDeepStrictEqual } from 'node:util';
import type { Steps } from '../clock.ts';
import { isObject } from '../json.ts';
import { checkRow } from './checks/check-tree.ts';
import { type Findings, placeOf, type Setting, type Settings } from './checks/findings.ts';
import { formatPlace } from './checks/problems.ts';
import { judgeUnknownVariable } from './checks/unknown-keys.ts';
import { ROWS, variableOf } from './rows/key-table.ts';
import { isSecretFile, type Row } from './rows/row.ts';
import { type NamedFile, readNamedFile } from './sources/named-files.ts';
import { CLIENT_KEY, listVariables } from './sources/variables.ts';

/** Values from the command line: dotted key → value and the option's name. They override files. */
export type Overrides = ReadonlyMap<string, { readonly value: unknown; readonly option: string }>;

/** Merges the files' settings; a key that two files set differently is a problem that names both places. */
export function mergeSettings(findings: Findings): Settings {
  const merged: Settings = new Map();
  for (const setting of findings.settings) {
    const earlier = merged.get(setting.key);
    if (earlier === undefined) merged.set(setting.key, setting);
    else if (earlier.file !== setting.file && !isDeepStrictEqual(earlier.value, setting.value)) {
      const place = formatPlace(earlier.file, earlier.line);
      findings.fail(placeOf(setting), `set differently at ${place}; remove one of the two`);
    }
  }
  return merged;
}

/** Puts the variables' settings in the place of the files'. */
export function applyVariables(
  variables: Readonly<Record<string, string | undefined>>,
  settings: Settings,
  findings: Findings,
): void {
  const before = findings.settings.length;
  for (const { name, setting } of listVariables(variables)) {
    if (setting === undefined) {
      judgeUnknownVariable(name, findings);
      continue;
    }
    const { key, row, parsed } = setting;
    const file = `variable ${name}`;
    for (const { path, message } of parsed.problems) findings.fail({ file, path }, message);
    if (parsed.value !== undefined) checkRow({ file, path: key.split('.') }, parsed.value, row, findings);
  }
  const own = findings.settings.splice(before);
  // Two keys of which only one may be set. Before all others: two variables are as wrong together as two keys of a file.
  for (const [key, { sets }] of ROWS)
    if (sets !== undefined && own.some((setting) => setting.key === key || setting.key === sets)) {
      settings.delete(key);
      settings.delete(sets);
    }
  for (const setting of own) settings.set(setting.key, setting);
  const hasKey = settings.has('auth.api_key') || settings.has('auth.api_key_file');
  if ((variables[CLIENT_KEY] ?? '') === '' || hasKey) return;
  const text = `variable ${CLIENT_KEY}: "hostwire top" sends this key, and the service has none; its own is ${variableOf(['auth.api_key'])}`;
  findings.note('warn', text);
}

/** Applies the values of the command line. */
export function applyOverrides(overrides: Overrides, settings: Settings, findings: Findings): void {
  for (const [key, { value, option }] of overrides) {
    const file = `option ${option}`;
    const row = ROWS.get(key);
    if (row === undefined) throw new Error(`${file} sets ${key}, which is not a key`);
    if (row.accepts(value)) settings.set(key, { key, value, file });
    else findings.refuse({ file, path: [key] }, row, value);
  }
}

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads the files that settings name into the settings. Returns all these files, also those that cannot be used.
 * `uid`: the service's user; undefined on Windows.
 */
export function* readFiles(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): Steps<readonly NamedFile[]> {
  const files: NamedFile[] = [];
  /** `key`: that of the value; `entry`: the values beside it in an entry of a map by name. */
  const read = (key: string, { file }: Row<unknown>, setting: Setting, written: unknown, entry: Entry) => {
    if (file === undefined || written === undefined) return undefined;
    const kind = typeof file === 'function' ? file(entry) : file;
    const found = readNamedFile(kind, setting.file, String(written), uid);
    files.push(found);
    if ('value' in found) return found.value;
    findings.fail(placeOf(setting, key), found.message);
    return undefined;
  };
  for (const [key, row] of ROWS) {
    const setting = settings.get(key);
    const { sets } = row;
    const other = sets === undefined ? undefined : settings.get(sets);
    if (setting !== undefined && other !== undefined) {
      const place = formatPlace(other.file, other.line);
      const message = `cannot be set together with ${sets}, which is set at ${place}; remove one of the two`;
      findings.fail(placeOf(setting), message);
    }
    const value = setting && read(key, row, setting, setting.value, {});
    if (setting !== undefined && value !== undefined) {
      settings.set(key, { ...setting, value: sets === undefined ? value : value.path });
      if (sets !== undefined && isSecretFile(value))
        settings.set(sets, { key: sets, value: value.secret, file: value.path });
    }
    const inner = Object.entries(row.entries?.keys ?? {}).filter(([, { file }]) => file !== undefined);
    for (const [own, named] of inner.length === 0 ? [] : settings) {
      if (!own.startsWith(`${key}.`)) continue;
      yield;
      const entry = isObject(named.value) ? named.value : {};
      const contents = inner.flatMap(([name, each]) => {
        const content = read(`${own}.${name}`, each, named, entry[name], entry);
        return content === undefined ? [] : [[name, content] as const];
      });
      // An entry without files stays the same object, so that reloads need not compare it.
      if (contents.length > 0)
        settings.set(own, { ...named, value: { ...entry, ...Object.fromEntries(contents) } });
    }
  }
  return files;
}

/** Dotted key → value: numbers at least the minimum of their row, all entries of a map under one key; only what is set. */
export function collectValues(settings: Settings, findings: Findings): ReadonlyMap<string, unknown> {
  const values = new Map([...settings].map(([key, { value }]) => [key, value]));
  for (const [key, { entries, follows, minimum }] of ROWS) {
    const value = values.get(key);
    if (minimum !== undefined && Number(value) < minimum) {
      values.set(key, minimum);
      findings.note('warn', `${value} is below the minimum; using ${minimum}`, settings.get(key));
    }
    if (value === undefined && follows !== undefined && values.has(follows))
      values.set(key, values.get(follows));
    if (entries === undefined) continue;
    // No prototype, so that a client's "constructor" finds nothing.
    const map: Record<string, unknown> = Object.create(null);
    const prefix = `${key}.`;
    for (const [own, setting] of settings)
      if (own.startsWith(prefix)) map[own.slice(prefix.length)] = setting.value;
    values.set(key, map);
  }
  return values;
}

/** Dotted key → `file:line`, `default` or `option --port`; each entry of a named map has one of its own. */
export function listOrigins(settings: Settings): ReadonlyMap<string, string> {
  const fallbacks = [...ROWS].map(
    ([key, { follows }]) => [key, follows === undefined ? 'default' : `default: follows ${follows}`] as const,
  );
  const set = [...settings].map(([key, { file, line }]) => [key, formatPlace(file, line)] as const);
  return new Map<string, string>([...fallbacks, ...set]);
}
