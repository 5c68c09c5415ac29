/** Turns one file's tree into settings that satisfy their rows, and lists everything that is wrong with it. */
import { type Findings, type Place, placed, refuse } from './findings.ts';
import { judgeItems } from './items.ts';
import { judgeEntries } from './named.ts';
import { formatPlace, kindOf, type Problem, show } from './problems.ts';
import type { Row } from './rows.ts';
import { accepts, isRow, KEY_GROUPS, type KeyGroup } from './schema.ts';
import { type Line, type MapEntry, type TextProblem, type Tree, toValue } from './tree.ts';
import { judgeUnknown } from './unknown.ts';

/** Adds what `tree` holds to `findings`. */
export function checkTree(file: string, tree: Tree, findings: Findings): void {
  if (tree.kind !== 'map') {
    const message = `expected a map of ${Object.keys(KEY_GROUPS).join(', ')}, found ${kindOf(toValue(tree))}`;
    findings.problems.push({ file, line: tree.line, key: undefined, value: undefined, message });
    return;
  }
  findings.problems.push(...findTrapKeys(tree, []).map((problem) => placed(file, problem)));
  for (const entry of tree.entries) {
    const group = Object.hasOwn(KEY_GROUPS, entry.key) ? KEY_GROUPS[entry.key] : undefined;
    if (group === undefined) addUnknown(file, [entry.key], entry, findings);
    else checkGroup(file, [entry.key], entry, group, findings);
  }
}

// JSON.parse accepts both silently: of two equal keys the last one wins, and __proto__ sets no key.
function findTrapKeys(tree: Tree, path: readonly string[]): TextProblem[] {
  if (tree.kind === 'list') return tree.items.flatMap((item) => findTrapKeys(item, path));
  if (tree.kind === 'scalar') return [];
  const lines = new Map<string, Line>();
  return tree.entries.flatMap(({ key, line, value }) => {
    const here = [...path, key];
    const own: TextProblem[] = [];
    if (lines.has(key)) own.push({ line, path: here, message: `set twice${firstIn(lines.get(key))}` });
    else lines.set(key, line);
    if (key === '__proto__') own.push({ line, path: here, message: 'is not allowed as a key' });
    return [...own, ...findTrapKeys(value, here)];
  });
}

const firstIn = (line: Line) => (line === undefined ? '' : `; first in line ${line}`);

function addUnknown(file: string, path: readonly string[], entry: MapEntry, findings: Findings): void {
  // findTrapKeys has reported it.
  if (entry.key === '__proto__') return;
  for (const { isError, ...found } of judgeUnknown(path, entry.line, entry.value)) {
    (isError ? findings.problems : findings.unknownKeys).push(placed(file, found));
  }
}

function checkGroup(
  file: string,
  path: readonly string[],
  { line, value: tree }: MapEntry,
  group: KeyGroup,
  findings: Findings,
): void {
  // In YAML a section of which all lines are comments.
  if (tree.kind === 'scalar' && tree.value === null) return;
  if (tree.kind !== 'map') {
    const found = toValue(tree);
    const message = `expected a map of keys such as ${Object.keys(group)[0]}, found ${kindOf(found)}${hintAt(found)}`;
    findings.problems.push({ file, line, key: path.join('.'), value: undefined, message });
    return;
  }
  for (const entry of tree.entries) {
    const inner = [...path, entry.key];
    const known = Object.hasOwn(group, entry.key) ? group[entry.key] : undefined;
    if (known === undefined) addUnknown(file, inner, entry, findings);
    else if (isRow(known)) checkEntry(file, inner, entry, known, findings);
    else checkGroup(file, inner, entry, known, findings);
  }
}

/** The end of a message about a text in place of keys: `port:8080` and `port = 8080` are texts. */
function hintAt(found: unknown): string {
  const isKey = typeof found === 'string' && /^\w+ ?[:=]/u.test(found);
  return isKey ? '; write a colon and a space after each key' : '';
}

/** Of other programs' configuration, with or without a default: here it would be the key itself, in plain sight. */
const PLACEHOLDER = /^\$\{\w+(?:\W[^}]*)?\}$/u;

/** `['server', 'port']` or `['server.port']` → `HOSTWIRE_SERVER_PORT`. */
export const variableOf = (path: readonly string[]) =>
  `HOSTWIRE_${path.join('_').replaceAll('.', '_').toUpperCase()}`;

const describePlaceholder = (path: readonly string[]) =>
  `looks like a variable, which is not replaced here; set ${variableOf(path)} in the environment`;

function checkEntry(
  file: string,
  path: readonly string[],
  entry: MapEntry,
  row: Row<unknown>,
  findings: Findings,
): void {
  const place = { file, line: entry.line, path };
  const value = toValue(entry.value);
  if (value === null) {
    noteNull(place, row, findings);
    return;
  }
  if (typeof value === 'string' && PLACEHOLDER.test(value)) {
    findings.problems.push(placed(file, { ...place, message: describePlaceholder(path) }));
  } else if (!accepts(row, value)) findings.problems.push(refuse(place, row, value));
  else if (row.entries !== undefined) judgeEntries(place, row.entries, entry.value, findings);
  else if (row.items === undefined || entry.value.kind !== 'list') {
    findings.settings.push({ key: path.join('.'), value, file, line: entry.line });
  } else checkList(place, row, entry.value.items, findings);
}

/**
 * A key without a value is not set. Its default may be another value than the one that was meant, such as an open service
 * for `enabled:` under auth, and is named; lists and maps without entries are what they look like.
 */
function noteNull({ file, line, path }: Place, row: Row<unknown>, { notices }: Findings): void {
  if (row.default === undefined || typeof row.default === 'object') return;
  const text = `${formatPlace(file, line)}: ${path.join('.')}: has no value; the default applies: ${row.defaultInWords ?? JSON.stringify(row.default)}`;
  notices.push({ level: 'warn', text });
}

function checkList(place: Place, row: Row<unknown>, items: readonly Tree[], findings: Findings): void {
  const at = (index: number): Place => ({
    file: place.file,
    line: items[index]?.line ?? place.line,
    path: [...place.path.slice(0, -1), `${place.path.at(-1)}[${index}]`],
  });
  const values = items.map(toValue);
  const wrong = values.flatMap((value, index) => (typeof value === 'string' ? [] : [{ index, value }]));
  findings.problems.push(
    ...wrong.map(({ index, value }) => refuse(at(index), { expected: 'a string, in quotes' }, value)),
  );
  const entries = values.filter((value) => typeof value === 'string');
  if (wrong.length > 0 || row.items === undefined) return;
  const judged = judgeItems(entries, row.items);
  const key = place.path.join('.');
  for (const { index, reason } of judged.problems) {
    const isPlaceholder = PLACEHOLDER.test(entries[index] ?? '');
    const found = isPlaceholder
      ? { value: undefined, message: describePlaceholder(place.path) }
      : describeItem(entries[index], reason);
    findings.problems.push({ ...placed(place.file, { ...at(index), message: '' }), ...found });
  }
  for (const text of judged.warnings) {
    findings.notices.push({ level: 'warn', text: `${formatPlace(place.file, place.line)}: ${key}: ${text}` });
  }
  if (judged.problems.length === 0) {
    findings.settings.push({ key, value: judged.value, file: place.file, line: place.line });
  }
}

function describeItem(entry: string | undefined, reason: string): Pick<Problem, 'value' | 'message'> {
  // A URL may have a password before an @.
  const value = entry?.includes('@') ? undefined : show(entry);
  return { value, message: value === undefined ? reason : `${reason}, found ${value}` };
}
