/** Checks the entries of a map by name. Each is a setting of its own, so that two files may each define some. */
import { isEntryName } from '../rows/predicates.ts';
import type { NamedEntries, Row } from '../rows/row.ts';
import { type MapEntry, type Tree, toValue } from '../sources/tree.ts';
import { type Findings, type Place, placeIn } from './findings.ts';
import { judgeUnknownIn } from './unknown-keys.ts';

const ANY_NAME = { isRight: isEntryName, words: 'letters, digits, "_", "." or "-"' };

/** Adds the entries of the map at `place` to `findings`. */
export function checkEntries(place: Place, entries: NamedEntries, tree: Tree, findings: Findings): void {
  for (const entry of tree.kind === 'map' ? tree.entries : []) {
    // checkTree has reported it.
    if (entry.key === '__proto__') continue;
    const inner = placeIn(place, entry);
    const { isRight, words } = entries.names ?? ANY_NAME;
    if (!isRight(entry.key)) findings.fail(inner, `expected a name of 1 to 64 ${words}`);
    checkEntry(inner, entries, entry.value, findings);
  }
}

function checkEntry(place: Place, entries: NamedEntries, written: Tree, findings: Findings): void {
  const { keys, required, requires, orElse, short, check, mayBeSecret } = entries;
  const { file, line, path } = place;
  const isShort = short !== undefined && written.kind === 'scalar' && typeof written.value === 'string';
  const tree: Tree = isShort
    ? { kind: 'map', line, entries: [{ key: short, line, value: written }] }
    : written;
  if (tree.kind !== 'map') {
    const expected = `${short === undefined ? '' : `${requires} in quotes, or `}a map with the key ${required}`;
    findings.refuse(place, mayBeSecret ? { expected, mayBeSecret } : { expected }, toValue(tree));
    return;
  }
  const before = findings.problems.length;
  const values = new Map(Object.entries(keys).map(([key, row]) => [key, row.default]));
  for (const entry of tree.entries) {
    const { key } = entry;
    if (key === '__proto__') continue;
    const inner = isShort ? place : placeIn(place, entry);
    const row = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (row === undefined) findings.doubt(inner, judgeUnknownIn(Object.keys(keys), key));
    else checkValue(inner, row, toValue(entry.value), findings, (value) => values.set(key, value));
  }
  const isSet = ({ key, value }: MapEntry) =>
    (key === required || key === orElse) && !(value.kind === 'scalar' && value.value === null);
  const other = orElse === undefined ? '' : `, or ${orElse}`;
  if (!tree.entries.some(isSet))
    findings.fail(place, `expected the key ${required}, with ${requires}${other}`);
  const message = findings.problems.length > before ? undefined : check?.(Object.fromEntries(values));
  if (message !== undefined) findings.fail(place, message);
  if (findings.problems.length > before) return;
  // Every key has its default or a value that its row accepted; one that is absent is left out.
  const value = Object.fromEntries([...values].filter(([, each]) => each !== undefined));
  findings.settings.push({ key: path.join('.'), value, file, line });
}

function checkValue(
  place: Place,
  row: Row<unknown>,
  value: unknown,
  findings: Findings,
  set: (value: unknown) => void,
): void {
  // A key without a value is not set.
  if (value === null) return;
  if (!row.accepts(value)) {
    findings.refuse(place, row, value);
    return;
  }
  set(value);
  const doubt = typeof value === 'string' ? row.judge?.(value) : undefined;
  if (doubt !== undefined) findings.doubt(place, doubt);
}
