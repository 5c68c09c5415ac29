/** Explains an error of the YAML parser to the author of the file: the line at fault, the key, and the remedy. */
import { KEY_GROUPS } from '../rows/key-table.ts';

export interface YamlError {
  /** The line that the parser reports, from 0. */
  readonly line: number;
  /** The number of characters before the error. */
  readonly position: number;
  /** Contains no text of the file: that may be a secret. */
  readonly reason: string;
}

/** The parser reads two lines without a colon as one key, and names the second line. */
const TWO_LINES = 'a multiline key';
const NO_COLON = 'the line has no colon; write "key: value", with a colon and a space';
const NEEDS_QUOTES = 'the value continues where none is expected; quote all of it';

/** Parts of the parser's reasons, and their remedies. */
const REMEDIES: readonly (readonly [part: string, remedy: string])[] = [
  ['bad indentation', 'indent the keys of one section alike, below their section'],
  ['deficient indentation', 'indent this line below its key'],
  ['tab characters', 'use spaces'],
  ['name of an alias node', 'quote a text that starts with *'],
  ['name of an anchor node', 'quote a text that starts with &'],
  ['a whitespace character is expected', 'write a space after the colon'],
  ['missed comma', 'write a comma between two entries'],
  ['nesting exceeded', 'no key is deeper than 6 levels'],
];
const OTHERWISE = 'quote a text with special characters; config.example.yaml shows the form of each key';

/** Reasons that come lines after the bracket or quotation mark that is not closed. */
const MAY_BE_UNCLOSED = ['deficient indentation', 'unexpected end', 'missed comma', 'expected valid JSON'];

/** Returns the line at fault, from 1, and the message. */
export function explainYamlError(text: string, { line, position, reason }: YamlError) {
  const isStarting = (start: string) => reason.startsWith(start);
  const open = MAY_BE_UNCLOSED.some(isStarting) ? findUnclosed(text.slice(0, position)) : undefined;
  const openLine = open === undefined ? 0 : text.slice(0, open.at).split(/\r\n|\r|\n/u).length;
  // In one line the parser's own reason is nearer.
  if (open !== undefined && openLine <= line)
    return {
      line: openLine,
      message: `a ${open.opening} is not closed; add a ${open.closing} where it ends`,
    };
  // The parser takes the rest of a value for an entry that is not indented; a key that is indented too far has only itself
  // before the error.
  const before = (
    text
      .slice(0, position)
      .split(/[\r\n]/u)
      .at(-1) ?? ''
  ).trim();
  if (isStarting('bad indentation') && /[^\w."'-]/u.test(before))
    return { line: line + 1, message: NEEDS_QUOTES };
  if (isStarting("expected ':'")) return { line: line + 1, message: NO_COLON };
  if (reason.includes(TWO_LINES)) return { line, message: NO_COLON };
  const [, remedy] = REMEDIES.find(([part]) => reason.includes(part)) ?? ['', OTHERWISE];
  return { line: line + 1, message: `${reason}; ${remedy}` };
}

/**
 * The parser gives no path, so the nearest line at or above the error that starts a known key names it. Unknown words
 * are not taken, because they may be part of a value.
 */
export function guessPath(text: string, line: number): readonly string[] {
  let name: string | undefined;
  for (const candidate of text
    .split(/\r\n|\r|\n/u)
    .slice(0, line)
    .reverse()) {
    const [, indent = '', word = ''] = /^([ \t]*)["']?(\w+)["']?[ \t]*:/u.exec(candidate) ?? [];
    if (indent === '' && Object.hasOwn(KEY_GROUPS, word))
      return name !== undefined && Object.hasOwn(KEY_GROUPS[word] ?? {}, name) ? [word, name] : [word];
    if (indent !== '') name ??= word;
  }
  return [];
}

interface Open {
  readonly opening: string;
  readonly closing: string;
  readonly at: number;
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['[', ']'],
  ['{', '}'],
]);

/** The last bracket or quotation mark that is not closed. A mark within a plain text, as in `don't`, opens nothing. */
function findUnclosed(text: string): Open | undefined {
  const brackets: Open[] = [];
  let isStart = true;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    const isApart = isSpace(text[at + 1]);
    if (char === '#' && isSpace(text[at - 1])) at = endOfLine(text, at) - 1;
    else if (isStart && (char === '"' || char === "'")) {
      const end = endOfQuotes(text, at, char);
      if (end === undefined) return { opening: char, closing: char, at };
      at = end;
      isStart = false;
    } else if (CLOSING.has(char) && (isStart || brackets.length > 0)) {
      brackets.push({ opening: char, closing: CLOSING.get(char) ?? '', at });
      isStart = true;
    } else if (brackets.at(-1)?.closing === char) brackets.pop();
    else if (char === '\n' || char === ',') isStart = true;
    else if (!isSpace(char)) isStart = isApart && (char === ':' || char === '-' || char === '?');
  }
  return brackets.at(-1);
}

const isSpace = (char: string | undefined) => char === undefined || char.trim() === '';

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at;
}

/** Two single quotes are one in the text, and so is an escaped double one. */
function endOfQuotes(text: string, from: number, mark: string): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (mark === '"' && text[at] === '\\') at++;
    else if (text[at] === mark) {
      if (mark === '"' || text[at + 1] !== mark) return at;
      at++;
    }
  }
  return undefined;
}
