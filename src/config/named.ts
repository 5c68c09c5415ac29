/** Checks the entries of a map by name. Each is a setting of its own, so that two files may each define some. */
import { type Findings, type Place, placed, refuse } from './findings.ts';
import { didYouMean, findLike, findMeantAmong } from './nearest.ts';
import type { Doubt, NamedEntries } from './rows.ts';
import { accepts } from './schema.ts';
import { type MapEntry, type Tree, toValue } from './tree.ts';
import { ENTRY_NAME } from './values.ts';

const ANY_NAME = { pattern: ENTRY_NAME, words: 'letters, digits, "_", "." or "-"' };

/** `place`: the map's. */
export function judgeEntries(
  { file, path: map }: Place,
  entries: NamedEntries,
  tree: Tree,
  findings: Findings,
): void {
  for (const entry of tree.kind === 'map' ? tree.entries : []) {
    // checkTree has reported it.
    if (entry.key === '__proto__') continue;
    const path = [...map, entry.key];
    const { pattern, words } = entries.names ?? ANY_NAME;
    if (!pattern.test(entry.key)) {
      const message = `expected a name of 1 to 64 ${words}`;
      findings.problems.push(placed(file, { line: entry.line, path, message }));
    }
    judgeEntry(file, path, entries, entry, findings);
  }
}

function judgeEntry(
  file: string,
  path: readonly string[],
  { keys, required, requires, orElse, short, check }: NamedEntries,
  { line, value: written }: MapEntry,
  findings: Findings,
): void {
  const isShort = short !== undefined && written.kind === 'scalar' && typeof written.value === 'string';
  const tree: Tree = isShort
    ? { kind: 'map', line, entries: [{ key: short, line, value: written }] }
    : written;
  if (tree.kind !== 'map') {
    const expected = `${short === undefined ? '' : `${requires} in quotes, or `}a map with the key ${required}`;
    findings.problems.push(refuse({ file, line, path }, { expected }, toValue(tree)));
    return;
  }
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(keys)) values[key] = row.default;
  const before = findings.problems.length;
  for (const entry of tree.entries.filter(({ key }) => key !== '__proto__')) {
    const place = { file, line: entry.line, path: isShort ? path : [...path, entry.key] };
    const row = Object.hasOwn(keys, entry.key) ? keys[entry.key] : undefined;
    const value = toValue(entry.value);
    if (row === undefined) addDoubt(place, judgeUnknown(entry.key, Object.keys(keys)), findings);
    // Not set, as everywhere.
    else if (value === null) continue;
    else if (accepts(row, value)) {
      values[entry.key] = value;
      const doubt = typeof value === 'string' ? row.judge?.(value) : undefined;
      if (doubt !== undefined) addDoubt(place, doubt, findings);
    } else findings.problems.push(refuse(place, row, value));
  }
  const isSet = ({ key, value }: MapEntry) =>
    (key === required || key === orElse) && !(value.kind === 'scalar' && value.value === null);
  if (!tree.entries.some(isSet)) {
    const other = orElse === undefined ? '' : `, or ${orElse}`;
    const message = `expected the key ${required}, with ${requires}${other}`;
    findings.problems.push(placed(file, { line, path, message }));
  }
  const message = findings.problems.length > before ? undefined : check?.(values);
  if (message !== undefined) findings.problems.push(placed(file, { line, path, message }));
  if (findings.problems.length > before) return;
  // Every key has its default or a value that its row accepted; one that is absent is left out.
  const value = Object.fromEntries(Object.entries(values).filter(([, each]) => each !== undefined));
  findings.settings.push({ key: path.join('.'), value, file, line });
}

function judgeUnknown(key: string, known: readonly string[]): Doubt {
  const meant = findMeantAmong(key, known);
  return meant === undefined
    ? { isError: false, message: `unknown key, ignored${didYouMean(findLike(key, known))}` }
    : { isError: true, message: `unknown key${didYouMean(meant)}` };
}

function addDoubt({ file, line, path }: Place, { isError, message }: Doubt, findings: Findings): void {
  (isError ? findings.problems : findings.unknownKeys).push(placed(file, { line, path, message }));
}
