/** Merges the settings of all sources: files beside each other, then environment variables, then command-line options. */
import { isDeepStrictEqual } from 'node:util';
import { checkTree } from './checks/check-tree.ts';
import type { Findings, Settings } from './checks/findings.ts';
import { formatPlace } from './checks/problems.ts';
import { judgeUnknownVariable } from './checks/unknown-keys.ts';
import { ROWS, variableOf } from './rows/key-table.ts';
import { CLIENT_KEY, listVariables } from './sources/variables.ts';

/** Values from the command line: dotted key → value and the option's name. They override files. */
export type Overrides = ReadonlyMap<string, { readonly value: unknown; readonly option: string }>;

/** Merges the files' settings; a key that two files set differently is a problem that names both places. */
export function mergeSettings(findings: Findings): Settings {
  const merged: Settings = new Map();
  for (const setting of findings.settings) {
    const { key, value, file, line } = setting;
    const earlier = merged.get(key);
    if (earlier === undefined) merged.set(key, setting);
    else if (earlier.file !== file && !isDeepStrictEqual(earlier.value, value)) {
      const place = formatPlace(earlier.file, earlier.line);
      findings.fail({ file, line, path: [key] }, `set differently at ${place}; remove one of the two`);
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
  for (const { name, tree } of listVariables(variables)) {
    if (tree === undefined) judgeUnknownVariable(name, findings);
    else checkTree(`variable ${name}`, tree, findings);
  }
  const own = findings.settings.splice(before);
  // Two keys of which only one may be set. Before all others: two variables are as wrong together as two keys of a file.
  const alternatives = [...ROWS].flatMap(([key, { sets }]) => (sets === undefined ? [] : [[key, sets]]));
  for (const keys of alternatives)
    if (own.some(({ key }) => keys.includes(key))) for (const key of keys) settings.delete(key);
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
    if (row.accepts(value)) settings.set(key, { key, value, file, line: undefined });
    else findings.refuse({ file, line: undefined, path: [key] }, row, value);
  }
}
