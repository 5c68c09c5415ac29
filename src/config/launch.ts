/** Checks `processes.launch`. Each app is a setting of its own, so that two files may each define some. */
import { type Findings, type Place, placed, refuse } from './findings.ts';
import { LAUNCH_KEYS, type LaunchEntry } from './launch-rows.ts';
import type { Row } from './rows.ts';
import { accepts } from './schema.ts';
import { type MapEntry, type Tree, toValue } from './tree.ts';
import { findMeantAmong } from './unknown.ts';
import { isLaunchName } from './values.ts';

const PATH = ['processes', 'launch'];
const ROWS: Readonly<Record<string, Row<unknown>>> = LAUNCH_KEYS;

export function judgeLaunch(file: string, tree: Tree, findings: Findings): void {
  for (const entry of tree.kind === 'map' ? tree.entries : []) {
    // checkTree has reported it.
    if (entry.key === '__proto__') continue;
    const path = [...PATH, entry.key];
    if (!isLaunchName(entry.key)) {
      const message = 'expected a name of 1 to 64 letters, digits, "_", "." or "-"';
      findings.problems.push(placed(file, { line: entry.line, path, message }));
    }
    judgeApp(file, path, entry, findings);
  }
}

function judgeApp(
  file: string,
  path: readonly string[],
  { line, value: tree }: MapEntry,
  findings: Findings,
): void {
  if (tree.kind !== 'map') {
    const found = toValue(tree);
    findings.problems.push(refuse({ file, line, path }, { expected: 'a map with the key command' }, found));
    return;
  }
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(ROWS)) values[key] = row.default;
  const before = findings.problems.length;
  for (const entry of tree.entries.filter(({ key }) => key !== '__proto__')) {
    const place = { file, line: entry.line, path: [...path, entry.key] };
    const row = Object.hasOwn(ROWS, entry.key) ? ROWS[entry.key] : undefined;
    const value = toValue(entry.value);
    if (row === undefined) addUnknown(place, entry.key, findings);
    else if (accepts(row, value)) values[entry.key] = value;
    else findings.problems.push(refuse(place, row, value));
  }
  if (!tree.entries.some(({ key }) => key === 'command')) {
    const message = 'expected the key command, with an absolute path';
    findings.problems.push(placed(file, { line, path, message }));
  }
  if (findings.problems.length > before) return;
  findings.settings.push({ key: path.join('.'), value: toEntry(values), file, line });
}

function addUnknown({ file, line, path }: Place, key: string, findings: Findings): void {
  const nearest = findMeantAmong(key, Object.keys(ROWS));
  if (nearest === undefined) {
    findings.unknownKeys.push(placed(file, { line, path, message: 'unknown key, ignored' }));
  } else {
    const message = `unknown key; the nearest known one is ${nearest}`;
    findings.problems.push(placed(file, { line, path, message }));
  }
}

function toEntry({ cwd, ...values }: Readonly<Record<string, unknown>>): LaunchEntry {
  // Every key has its default or a value that its row accepted; an absent cwd is left out.
  return (cwd === undefined ? values : { ...values, cwd }) as unknown as LaunchEntry;
}
