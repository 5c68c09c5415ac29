/** Settings from environment variables: `HOSTWIRE_`, then the key in capitals with `_` for each dot. They override files. */
import { checkTree, variableOf } from './check.ts';
import { createFindings, type Findings, placed, type Setting } from './findings.ts';
import { didYouMean, findLike, findMeantAmong, findNearest } from './nearest.ts';
import { parseJson } from './parse-json.ts';
import type { Row } from './rows.ts';
import { ROWS } from './schema.ts';
import { type Tree, withoutLines } from './tree.ts';
import { LAST_WORDS, withoutSection } from './unknown.ts';

const KEY_OF: ReadonlyMap<string, string> = new Map([...ROWS.keys()].map((key) => [variableOf([key]), key]));
const NAMES = [...KEY_OF.keys()];
const PREFIX = variableOf(['']);
const AUTH = variableOf(['auth']);
/** A shorter name without its section must be right to the letter: `HOSTWIRE_FILES` is no `log.file`. */
const MIN_NEAR_LETTERS = PREFIX.length + 6;

/** `HOSTWIRE_PORT` → `HOSTWIRE_SERVER_PORT`: names without their section, where only one section has such a key. */
function namesWithoutSection(): ReadonlyMap<string, string> {
  const words = [...ROWS.keys()].map(withoutSection);
  return new Map(
    [...LAST_WORDS]
      .filter(([word]) => words.indexOf(word) === words.lastIndexOf(word))
      .map(([word, key]) => [variableOf([word]), variableOf([key])]),
  );
}

const FILE = 'HOSTWIRE_CONFIG';
const CLIENT_KEY = 'HOSTWIRE_KEY';

/** Kubernetes sets these for a service that is called hostwire (or hostwire-hub) in every container of its namespace. */
const SERVICE_LINK =
  /^HOSTWIRE_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/u;
const LINK_URL = /^(?:tcp|udp|sctp):\/\//u;

const isServiceLink = (name: string, text: string) =>
  SERVICE_LINK.test(name) || (name.endsWith('_PORT') && LINK_URL.test(text));

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
    if (!name.toUpperCase().startsWith(PREFIX) || isServiceLink(name, text)) continue;
    if (key !== undefined) readVariable(name, key, text, own);
    else if (name !== FILE && name !== CLIENT_KEY) noteUnknown(name, own);
  }
  // Before all others are set: two variables are as wrong together as two keys of a file.
  if (own.settings.some(({ key }) => EXCLUSIVE.includes(key)))
    for (const key of EXCLUSIVE) settings.delete(key);
  for (const setting of own.settings) settings.set(setting.key, setting);
  if ((variables[CLIENT_KEY] ?? '') !== '' && !EXCLUSIVE.some((key) => settings.has(key))) {
    const text = `variable ${CLIENT_KEY}: "hostwire top" sends this key, and the service has none; its own is ${variableOf(['auth.api_key'])}`;
    own.notices.push({ level: 'warn', text });
  }
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

/** By the rule for keys of files (unknown.ts). One that resembles nothing may be another program's, and is no error. */
function noteUnknown(name: string, findings: Findings): void {
  const file = `variable ${name}`;
  const message = (meant: string | undefined) => `sets no key of the configuration${didYouMean(meant)}`;
  const meant = findMeantVariable(name.toUpperCase());
  // As in a file: a key that is misspelt under auth would leave the service open.
  if (meant !== undefined || name === AUTH || name.startsWith(`${AUTH}_`)) {
    const nearest = meant ?? findNearest(name, inSectionOf(AUTH), () => Number.MAX_SAFE_INTEGER);
    findings.problems.push(placed(file, { line: undefined, path: [], message: message(nearest) }));
    return;
  }
  const [section = ''] = name.slice(PREFIX.length).split('_');
  const inSection = inSectionOf(`${PREFIX}${section}`);
  if (inSection.length === 0)
    findings.notices.push({ level: 'info', text: `${file}: ${message(undefined)}` });
  else {
    const like = message(findLike(name, inSection));
    findings.unknownKeys.push(placed(file, { line: undefined, path: [], message: like }));
  }
}

const inSectionOf = (section: string) => NAMES.filter((name) => name.startsWith(`${section}_`));

function findMeantVariable(name: string): string | undefined {
  const short = namesWithoutSection();
  const exact = NAMES.includes(name) ? name : short.get(name);
  if (exact !== undefined) return exact;
  const near = [...short.keys()].filter(({ length }) => length >= MIN_NEAR_LETTERS);
  const word = findMeantAmong(name, near);
  return findMeantAmong(name, NAMES) ?? (word === undefined ? undefined : short.get(word));
}
