/** Settings from environment variables: `HOSTWIRE_`, then the key in capitals with `_` for each dot. They override files. */
import { checkTree, variableOf } from './check.ts';
import { createFindings, type Findings, placed, type Setting } from './findings.ts';
import { parseJson } from './parse-json.ts';
import type { Row } from './rows.ts';
import { KEY_GROUPS, ROWS } from './schema.ts';
import { type Tree, withoutLines } from './tree.ts';

const KEY_OF: ReadonlyMap<string, string> = new Map([...ROWS.keys()].map((key) => [variableOf([key]), key]));
const SECTIONS = Object.keys(KEY_GROUPS).map((section) => variableOf([section, '']));

/** An app that the service launches must not find them in its environment. */
export const SECRET_VARIABLES: readonly string[] = [...ROWS]
  .filter(([, { isSecret }]) => isSecret === true)
  .map(([key]) => variableOf([key]));

/** Only one of them can count. */
const EXCLUSIVE = ['auth.api_key', 'auth.api_key_file'];

/** Puts the variables' settings in the place of the files'. */
export function applyVariables(
  variables: Readonly<Record<string, string | undefined>>,
  settings: Map<string, Setting>,
  findings: Findings,
): void {
  const own = createFindings();
  for (const [name, text = ''] of Object.entries(variables)) {
    const key = KEY_OF.get(name);
    if (key !== undefined) readVariable(name, key, text, own);
    else if (SECTIONS.some((section) => name.startsWith(section))) noteUnknown(name, own);
  }
  // Before all others are set: two variables are as wrong together as two keys of a file.
  if (own.settings.some(({ key }) => EXCLUSIVE.includes(key)))
    for (const key of EXCLUSIVE) settings.delete(key);
  for (const setting of own.settings) settings.set(setting.key, setting);
  findings.problems.push(...own.problems);
  findings.unknownKeys.push(...own.unknownKeys);
  findings.notices.push(...own.notices);
}

function readVariable(name: string, key: string, text: string, findings: Findings): void {
  const row = ROWS.get(key);
  if (row === undefined) return;
  const tree = key
    .split('.')
    .reduceRight<Tree>(
      (value, word) => ({ kind: 'map', line: undefined, entries: [{ key: word, line: undefined, value }] }),
      parseText(text, row),
    );
  checkTree(`variable ${name}`, withoutLines(tree), findings);
}

/** What is not of its row's type stays a text, which the row then refuses. */
function parseText(text: string, { type }: Row<unknown>): Tree {
  const scalar = (value: string | number | boolean): Tree => ({ kind: 'scalar', line: undefined, value });
  if (type === 'boolean' && (text === 'true' || text === 'false')) return scalar(text === 'true');
  if ((type === 'integer' || type === 'number') && /^-?\d+(?:\.\d+)?$/u.test(text))
    return scalar(Number(text));
  if (type === 'list of strings' && !text.trimStart().startsWith('['))
    return { kind: 'list', line: undefined, items: listOf(text).map(scalar) };
  if (type === 'list of strings' || type === 'map') return parseJson(text).tree ?? scalar(text);
  return scalar(text);
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function noteUnknown(name: string, findings: Findings): void {
  const message = 'sets no key of the configuration';
  const problem = placed(`variable ${name}`, { line: undefined, path: [], message });
  // As in a file: a key that is misspelt under auth would leave the service open.
  (name.startsWith(variableOf(['auth', ''])) ? findings.problems : findings.unknownKeys).push(problem);
}
