/** Turns the value of one source into settings that satisfy their rows, and lists everything that is wrong with it. */
import { isObject, type JsonObject } from '../../json.ts';
import { isEntryName, type JudgeItems } from '../rows/forms.ts';
import { isRow, KEY_GROUPS, type KeyGroup, variableOf } from '../rows/key-table.ts';
import type { NamedEntries, Row } from '../rows/row.ts';
import { type Findings, type Place, placeIn, placeOfItem } from './findings.ts';
import { kindOf } from './problems.ts';
import { judgeUnknown, judgeUnknownIn } from './unknown-keys.ts';

/** Adds what the whole of a source holds to `findings`. */
export function checkTree(place: Place, value: unknown, findings: Findings): void {
  const sections = Object.keys(KEY_GROUPS).join(', ');
  if (isObject(value)) checkGroup(place, value, KEY_GROUPS, findings);
  else findings.fail(place, `expected a map of ${sections}, found ${kindOf(value)}`);
}

function checkGroup(place: Place, group: JsonObject, known: KeyGroup, findings: Findings): void {
  for (const [key, value] of Object.entries(group)) {
    const inner = placeIn(place, key);
    const row = Object.hasOwn(known, key) ? known[key] : undefined;
    if (row === undefined) for (const found of judgeUnknown(inner, value)) findings.doubt(found, found);
    else if (isRow(row)) checkRow(inner, value, row, findings);
    else if (isObject(value)) checkGroup(inner, value, row, findings);
    // null: a YAML section whose lines are all comments.
    else if (value !== null) {
      const expected = `expected a map of keys such as ${Object.keys(row)[0]}`;
      // YAML reads `port:8080` and `port = 8080` as texts.
      const isKey = typeof value === 'string' && /^\w+ ?[:=]/u.test(value);
      const hint = isKey ? '; write a colon and a space after each key' : '';
      findings.fail(inner, `${expected}, found ${kindOf(value)}${hint}`);
    }
  }
}

/** A variable as other programs' configuration has it, with or without a default. Here the text itself would be the key. */
const PLACEHOLDER = /^\$\{\w+(?:\W[^}]*)?\}$/u;

const describePlaceholder = (path: readonly string[]) =>
  `looks like a variable, which is not replaced here; set ${variableOf(path)} in the environment`;

/** Adds the value of a key of the table. */
export function checkRow(place: Place, value: unknown, row: Row<unknown>, findings: Findings): void {
  if (value === null) {
    // The default may differ from the intended value: `enabled:` under auth leaves the service open. That of a list or
    // a map is empty, as it looks.
    if (row.default === undefined || typeof row.default === 'object') return;
    const fallback = row.defaultInWords ?? JSON.stringify(row.default);
    const { file, line, path } = place;
    const text = `has no value; the default applies: ${fallback}`;
    findings.note('warn', text, { file, line, key: path.join('.') });
  } else if (typeof value === 'string' && PLACEHOLDER.test(value))
    findings.fail(place, describePlaceholder(place.path));
  else if (row.entries === undefined) {
    const read = readValue(place, value, row, findings);
    if (read !== undefined) findings.set(place, read);
  } else if (!isObject(value)) findings.refuse(place, row, value);
  else
    for (const [name, entry] of Object.entries(value))
      checkEntry(placeIn(place, name), name, row.entries, entry, findings);
}

/** Returns the value as the configuration holds it; undefined: it is wrong. */
function readValue(place: Place, value: unknown, row: Row<unknown>, findings: Findings): unknown {
  if (!row.accepts(value)) {
    findings.refuse(place, row, value);
    return undefined;
  }
  if (row.items !== undefined && Array.isArray(value))
    return readList(place, row, row.items, value, findings);
  const doubt = typeof value === 'string' ? row.judge?.(value) : undefined;
  if (doubt !== undefined) findings.doubt(place, doubt);
  // The parser's maps have no prototype, which takes five times the memory: thousands of machines have labels.
  return isObject(value) ? { ...value } : value;
}

function readList(
  place: Place,
  row: Row<unknown>,
  judge: JudgeItems,
  items: readonly unknown[],
  findings: Findings,
): unknown {
  const expected = 'a string, in quotes';
  const entries = items.filter((item) => typeof item === 'string');
  for (const [index, item] of items.entries())
    if (typeof item !== 'string') findings.refuse(placeOfItem(place, index), { ...row, expected }, item);
  if (entries.length < items.length) return undefined;
  const { value, problems, warnings } = judge(entries);
  for (const { index, reason } of problems) {
    const entry = entries[index] ?? '';
    const at = placeOfItem(place, index);
    if (PLACEHOLDER.test(entry)) findings.fail(at, describePlaceholder(place.path));
    else findings.refuseItem(at, row, entry, reason);
  }
  const { file, line, path } = place;
  for (const text of warnings) findings.note('warn', text, { file, line, key: path.join('.') });
  return problems.length === 0 ? value : undefined;
}

const ANY_NAME = { isRight: isEntryName, words: 'letters, digits, "_", "." or "-"' };

/** Adds an entry of a map by name. Each is a setting of its own, so that two files may each define some. */
function checkEntry(
  place: Place,
  name: string,
  { keys, required, requires, orElse, short, names = ANY_NAME, check, mayBeSecret }: NamedEntries,
  written: unknown,
  findings: Findings,
): void {
  const before = findings.problems.length;
  if (!names.isRight(name) || name === '__proto__')
    findings.fail(place, `expected a name of 1 to 64 ${names.words}`);
  const isShort = short !== undefined && typeof written === 'string';
  const entry = isShort ? { [short]: written } : written;
  if (!isObject(entry)) {
    const expected = `${short === undefined ? '' : `${requires} in quotes, or `}a map with the key ${required}`;
    findings.refuse(place, { expected, ...(mayBeSecret && { mayBeSecret }) }, entry);
    return;
  }
  const values = new Map(Object.entries(keys).map(([key, row]) => [key, row.default]));
  for (const [key, value] of Object.entries(entry)) {
    const inner = isShort ? place : placeIn(place, key);
    const row = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (row === undefined) findings.doubt(inner, judgeUnknownIn(Object.keys(keys), key));
    // A key without a value is not set.
    else if (value !== null) values.set(key, readValue(inner, value, row, findings));
  }
  const isSet = (key: string | undefined) => key !== undefined && (entry[key] ?? null) !== null;
  if (!isSet(required) && !isSet(orElse)) {
    const other = orElse === undefined ? '' : `, or ${orElse}`;
    findings.fail(place, `expected the key ${required}, with ${requires}${other}`);
  }
  const wrong = findings.problems.length > before ? undefined : check?.(Object.fromEntries(values));
  if (wrong !== undefined) findings.fail(place, wrong);
  if (findings.problems.length > before) return;
  // Every key has its default or a value that its row accepted; one that is absent is left out.
  findings.set(place, Object.fromEntries([...values].filter(([, value]) => value !== undefined)));
}
