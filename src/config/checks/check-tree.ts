/** Turns the tree of one source into settings that satisfy their rows, and lists everything that is wrong with it. */
import { isRow, KEY_GROUPS, type KeyGroup, variableOf } from '../rows/key-table.ts';
import type { JudgeItems } from '../rows/list-items.ts';
import type { Row } from '../rows/row.ts';
import { type Line, type Tree, toValue } from '../sources/tree.ts';
import { checkEntries } from './check-entries.ts';
import { type Findings, type Place, placeIn, type Setting } from './findings.ts';
import { kindOf, show } from './problems.ts';
import { judgeUnknown } from './unknown-keys.ts';

/** Adds what `tree` holds to `findings`. */
export function checkTree(file: string, tree: Tree, findings: Findings): void {
  const place = { file, line: tree.line, path: [] };
  const sections = Object.keys(KEY_GROUPS).join(', ');
  if (tree.kind !== 'map')
    findings.fail(place, `expected a map of ${sections}, found ${kindOf(toValue(tree))}`);
  else {
    checkTraps(place, tree, findings);
    checkGroup(place, tree, KEY_GROUPS, findings);
  }
}

// JSON.parse accepts both silently: the last of two equal keys wins, and __proto__ sets no key.
function checkTraps(place: Place, tree: Tree, findings: Findings): void {
  if (tree.kind === 'list') for (const item of tree.items) checkTraps(place, item, findings);
  if (tree.kind !== 'map') return;
  const lines = new Map<string, Line>();
  for (const entry of tree.entries) {
    const { key, line } = entry;
    const here = placeIn(place, entry);
    if (lines.has(key)) findings.fail(here, `set twice${firstIn(lines.get(key))}`);
    else lines.set(key, line);
    if (key === '__proto__') findings.fail(here, 'is not allowed as a key');
    checkTraps(here, entry.value, findings);
  }
}

const firstIn = (line: Line) => (line === undefined ? '' : `; first in line ${line}`);

function checkGroup(place: Place, tree: Tree, group: KeyGroup, findings: Findings): void {
  // A YAML section whose lines are all comments.
  if (tree.kind === 'scalar' && tree.value === null) return;
  if (tree.kind !== 'map') {
    const found = toValue(tree);
    const expected = `expected a map of keys such as ${Object.keys(group)[0]}`;
    findings.fail(place, `${expected}, found ${kindOf(found)}${hintAt(found)}`);
    return;
  }
  for (const entry of tree.entries) {
    const { key, value } = entry;
    const inner = placeIn(place, entry);
    const known = Object.hasOwn(group, key) ? group[key] : undefined;
    // checkTraps has reported it.
    if (key === '__proto__') continue;
    if (known === undefined) for (const found of judgeUnknown(inner, value)) findings.doubt(found, found);
    else if (isRow(known)) checkRow(inner, value, known, findings);
    else checkGroup(inner, value, known, findings);
  }
}

/** Ends a message about a text where keys were expected: YAML reads `port:8080` and `port = 8080` as texts. */
function hintAt(found: unknown): string {
  const isKey = typeof found === 'string' && /^\w+ ?[:=]/u.test(found);
  return isKey ? '; write a colon and a space after each key' : '';
}

/** A variable as other programs' configuration has it, with or without a default. Here the text itself would be the key. */
const PLACEHOLDER = /^\$\{\w+(?:\W[^}]*)?\}$/u;

const describePlaceholder = (path: readonly string[]) =>
  `looks like a variable, which is not replaced here; set ${variableOf(path)} in the environment`;

function checkRow(place: Place, tree: Tree, row: Row<unknown>, findings: Findings): void {
  const { file, line, path } = place;
  const key = path.join('.');
  const value = toValue(tree);
  if (value === null) noteNull({ file, line, key }, row, findings);
  else if (typeof value === 'string' && PLACEHOLDER.test(value))
    findings.fail(place, describePlaceholder(path));
  else if (!row.accepts(value)) findings.refuse(place, row, value);
  else if (row.entries !== undefined) checkEntries(place, row.entries, tree, findings);
  else if (row.items === undefined || tree.kind !== 'list')
    findings.settings.push({ key, value, file, line });
  else checkList(place, row.items, tree.items, findings);
}

/**
 * Names the default of a key without a value, which is not set. The default may differ from the intended value: `enabled:`
 * under auth leaves the service open. The default of a list or map is empty, as it looks.
 */
function noteNull(place: Omit<Setting, 'value'>, row: Row<unknown>, findings: Findings): void {
  if (row.default === undefined || typeof row.default === 'object') return;
  const fallback = row.defaultInWords ?? JSON.stringify(row.default);
  findings.note('warn', `has no value; the default applies: ${fallback}`, place);
}

function checkList(
  { file, line, path }: Place,
  judgeItems: JudgeItems,
  items: readonly Tree[],
  findings: Findings,
): void {
  const key = path.join('.');
  const at = (index: number): Place => ({
    file,
    line: items[index]?.line ?? line,
    path: [...path.slice(0, -1), `${path.at(-1)}[${index}]`],
  });
  const values = items.map(toValue);
  for (const [index, value] of values.entries())
    if (typeof value !== 'string') findings.refuse(at(index), { expected: 'a string, in quotes' }, value);
  const entries = values.filter((value) => typeof value === 'string');
  if (entries.length < values.length) return;
  const { value, problems, warnings } = judgeItems(entries);
  for (const { index, reason } of problems) {
    const entry = entries[index] ?? '';
    // A URL may have a password before an @.
    const shown = entry.includes('@') ? undefined : show(entry);
    if (PLACEHOLDER.test(entry)) findings.fail(at(index), describePlaceholder(path));
    else findings.fail(at(index), shown === undefined ? reason : `${reason}, found ${shown}`, shown);
  }
  for (const text of warnings) findings.note('warn', text, { file, line, key });
  if (problems.length === 0) findings.settings.push({ key, value, file, line });
}
