/** Normalises the merged settings by their rows: reads files, raises numbers, and collects the entries of maps. */
import type { Steps } from '../clock.ts';
import { isObject } from '../json.ts';
import { FILE_GROUPS, type Merged } from './checks/between-keys.ts';
import { placeOf, type Setting, type Settings } from './checks/findings.ts';
import { formatPlace } from './checks/problems.ts';
import { ROWS } from './rows/key-table.ts';
import { isSecretFile, type NamedEntries, type Row } from './rows/row.ts';
import { type NamedFile, readNamedFile } from './sources/named-files.ts';

type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads the files that settings name into the settings, and judges the keys that belong together. Returns all these files,
 * also those that cannot be used. `uid`: the service's user; undefined on Windows.
 */
export function* readFiles(merged: Merged, uid: number | undefined): Steps<readonly NamedFile[]> {
  const { settings, findings } = merged;
  const files: NamedFile[] = [];
  /** `key`: that of the value; `entry`: the values beside it in an entry of a map by name. */
  const read = (key: string, { file }: Row<unknown>, setting: Setting, written: unknown, entry: Entry) => {
    if (file === undefined || written === undefined) return undefined;
    const kind = typeof file === 'function' ? file(entry) : file;
    const found = readNamedFile(kind, setting.file, String(written), uid);
    files.push(found);
    if ('value' in found) return found;
    findings.fail(placeOf(setting, key), found.message);
    return undefined;
  };
  const readSetting = (key: string, row: Row<unknown>, setting: Setting) => {
    const found = read(key, row, setting, setting.value, {});
    if (found === undefined) return;
    const { path, value } = found;
    const { sets } = row;
    settings.set(key, { ...setting, value: sets === undefined ? value : path });
    if (sets === undefined || !isSecretFile(value)) return;
    settings.set(sets, { key: sets, value: value.secret, file: path, line: undefined });
  };
  const readEntry = (key: string, rows: NamedEntries['keys'], setting: Setting) => {
    const entry = isObject(setting.value) ? setting.value : {};
    const contents: Record<string, unknown> = {};
    for (const [name, row] of Object.entries(rows)) {
      const found = read(`${key}.${name}`, row, setting, entry[name], entry);
      if (found !== undefined) contents[name] = found.value;
    }
    // An entry without files stays the same object, so that reloads need not compare it.
    if (Object.keys(contents).length > 0) settings.set(key, { ...setting, value: { ...entry, ...contents } });
  };
  for (const { prefix, judge, judgeFiles } of FILE_GROUPS) {
    const rows = ROWS.get(prefix)?.entries?.keys;
    if (rows === undefined) judge(merged, prefix);
    for (const [key, setting] of settings) {
      if (rows === undefined || !key.startsWith(`${prefix}.`)) continue;
      yield;
      judge(merged, key);
      readEntry(key, rows, setting);
    }
    for (const [key, row] of ROWS) {
      const setting = settings.get(key);
      if (setting !== undefined && key.slice(0, key.lastIndexOf('.')) === prefix)
        readSetting(key, row, setting);
    }
    judgeFiles?.(merged);
  }
  return files;
}

/** Replaces numbers below the minimum of their row. */
export function raiseNumbers({ settings, findings }: Merged): void {
  for (const [key, { minimum }] of ROWS) {
    const setting = settings.get(key);
    if (minimum === undefined || setting === undefined || Number(setting.value) >= minimum) continue;
    settings.set(key, { ...setting, value: minimum });
    findings.note('warn', `${setting.value} is below the minimum; using ${minimum}`, setting);
  }
}

/** Dotted key → value, with all entries of a map under one key; keys that are not set are absent. */
export function collectValues(settings: Settings): ReadonlyMap<string, unknown> {
  const values = new Map([...settings].map(([key, { value }]) => [key, value]));
  for (const [key, { entries, follows }] of ROWS) {
    if (follows !== undefined && !values.has(key) && values.has(follows))
      values.set(key, values.get(follows));
    if (entries === undefined) continue;
    // No prototype, so that a client's "constructor" finds nothing.
    const map: Record<string, unknown> = Object.create(null);
    const prefix = `${key}.`;
    for (const [own, { value }] of settings)
      if (own.startsWith(prefix)) map[own.slice(prefix.length)] = value;
    values.set(key, map);
  }
  return values;
}

/** Dotted key → `file:line`, `default` or `option --port`; each entry of a named map has one of its own. */
export function listOrigins(settings: Settings): ReadonlyMap<string, string> {
  const origins = new Map(
    [...ROWS].map(([key, { follows }]): [string, string] => [
      key,
      follows === undefined ? 'default' : `default: follows ${follows}`,
    ]),
  );
  for (const { key, file, line } of settings.values()) origins.set(key, formatPlace(file, line));
  return origins;
}
