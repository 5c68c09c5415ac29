/** Finds where a text stops being JSON: the message of JSON.parse differs between versions of Node and quotes the text. */

export interface JsonError {
  readonly offset: number;
  /** The keys around it. */
  readonly path: readonly string[];
  readonly message: string;
}

/** A mark, a string, a number or a word, and the space before it. No u flag: JSON.parse decides about lone surrogates. */
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must be escaped in JSON
  /[ \t\n\r]*([{}[\],:]|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null|)/y;

const EXPECTED = {
  value: 'expected a value',
  item: 'expected a value',
  key: 'expected a key in double quotes',
  'first key': 'expected a key in double quotes',
  colon: "expected ':' after the key",
  next: 'expected the end of the file after the closing bracket',
};

/** Finds the first error of a text that JSON.parse rejects, or the first bracket beyond `maxDepth`. */
export function findJsonError(text: string, maxDepth: number): JsonError {
  const open: { readonly closing: string; key?: string | undefined }[] = [];
  let state: keyof typeof EXPECTED = 'value';
  for (let at = 0; ; ) {
    TOKEN.lastIndex = at;
    const [found = '', token = ''] = TOKEN.exec(text) ?? [];
    at += found.length;
    const map = open.at(-1);
    const isValue = state === 'value' || state === 'item';
    if (token !== '' && token === map?.closing && ['item', 'first key', 'next'].includes(state)) {
      open.pop();
      state = 'next';
    } else if (state === 'next' && token === ',' && map !== undefined) {
      state = map.closing === '}' ? 'key' : 'value';
      map.key = undefined;
    } else if (state.endsWith('key') && token.startsWith('"') && map !== undefined) {
      map.key = String(JSON.parse(token));
      state = 'colon';
    } else if (state === 'colon' && token === ':') state = 'value';
    else if (isValue && (token === '{' || token === '[') && open.length < maxDepth) {
      open.push({ closing: token === '{' ? '}' : ']' });
      state = token === '{' ? 'first key' : 'item';
    } else if (isValue && /^["\-\dtfn]/u.test(token)) state = 'next';
    else {
      const offset = at - token.length;
      const path = open.flatMap(({ key }) => key ?? []);
      if (map?.key !== undefined && state === 'next') path.pop();
      return { offset, path, message: describe(text, offset, state, map?.closing) };
    }
  }
}

function describe(text: string, offset: number, state: keyof typeof EXPECTED, closing?: string): string {
  const rest = text.slice(offset, offset + 2);
  if (rest === '') return 'the text ends too early; close its brackets';
  if (rest.startsWith('"') && state !== 'next' && state !== 'colon')
    return 'a string is not closed, or contains a bad escape or a control character; write \\\\ for a backslash';
  if ((state === 'value' || state === 'item') && /^[[{]/u.test(rest))
    return 'nested too deeply; no key is deeper than 6 levels';
  const expected =
    state === 'next' && closing !== undefined ? `expected ',' or '${closing}'` : EXPECTED[state];
  if (/^(?:\/[/*]|#)/u.test(rest)) return `${expected}; JSON has no comments, YAML has`;
  const isAfterComma = /^[}\]]/u.test(rest) && text.slice(0, offset).trimEnd().endsWith(',');
  return isAfterComma ? `${expected}; remove the comma before it` : expected;
}
