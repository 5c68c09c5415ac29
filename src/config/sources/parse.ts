/** Parses JSON and YAML's core schema, with lines: one document, no aliases, anchors or merge keys, and no key twice. */
import {
  CORE_SCHEMA,
  EVENT_ID,
  type Event,
  getScalarValue,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml';
import { findJsonError } from './json-error.ts';
import { explainYamlError, guessPath } from './yaml-errors.ts';

export type Format = 'JSON' | 'YAML';

/** Something wrong with the text itself. */
export interface TextProblem {
  readonly line: number;
  readonly path: readonly string[];
  readonly message: string;
}

/** The lines of keys and of items of lists, from 1, by `lineKey` of their path. */
export type Lines = ReadonlyMap<string, number>;

export interface Parsed {
  /** undefined: the text has no value, or could not be parsed. Maps have no prototype. */
  readonly value: unknown;
  readonly lines: Lines;
  readonly problems: readonly TextProblem[];
}

export const lineKey = (path: readonly string[]): string => path.join('\0');

/** The path of an item of the list at `path`. */
export const pathOfItem = (path: readonly string[], index: number): readonly string[] => [
  ...path.slice(0, -1),
  `${path.at(-1) ?? ''}[${index}]`,
];

/** The limit keeps the recursion from overflowing the stack; the deepest key of ours is at level 6. */
export const MAX_DEPTH = 32;
const MAX_PROBLEMS = 100;
const ABSENT = -1;

/** `path`: of the value in the configuration; a file of a key holds one entry. Messages quote nothing of the text. */
export function parse(text: string, format: Format, path: readonly string[] = []): Parsed {
  const fail = (line: number, inner: readonly string[], message: string): Parsed => ({
    value: undefined,
    lines: new Map(),
    problems: [{ line, path: [...path, ...inner], message: `not ${format}: ${message}` }],
  });
  if (format === 'JSON' && /[^ \t\n\r]/u.test(text)) {
    // YAML accepts more, and some of it silently: `[1 2]` is a list of one text.
    try {
      JSON.parse(text);
    } catch {
      const { offset, path: inner, message } = findJsonError(text, MAX_DEPTH);
      return fail(createLineFinder(text)(offset), inner, message);
    }
  }
  try {
    return build(text, parseEvents(text, { maxDepth: MAX_DEPTH }), path);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // The parser's reason may quote a tag, and a secret that starts with "!" is read as one, so quotations are cut.
    const reason = error.reason.replace(/(?<=characters): .*$/su, '').replace(/"[\s\S]*"/gu, '"…"');
    const { line: at = 0, position = text.length } = error.mark ?? {};
    const { line, message } = explainYamlError(text, { line: at, position, reason });
    return fail(line, path.length === 0 ? guessPath(text, line) : [], message);
  }
}

function build(text: string, events: readonly Event[], root: readonly string[]): Parsed {
  const lineOf = createLineFinder(text);
  const lines = new Map<string, number>();
  const problems: TextProblem[] = [];
  let path = root;
  let next = 1;
  let lastOffset = 0;

  const report = (line: number, message: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ line, path, message });
  };
  /** `above`: the line of a value that is missing. */
  const readNode = (above: number): unknown => {
    const event = events[next++];
    const offset = event === undefined ? ABSENT : offsetOf(event);
    lastOffset = Math.max(lastOffset, offset);
    const line = offset === ABSENT ? above : lineOf(offset);
    const key = lineKey(path);
    if (!lines.has(key)) lines.set(key, line);
    if (event?.type === EVENT_ID.ALIAS)
      report(line, 'aliases (*name) are not allowed; quote a text that starts with *');
    if (event === undefined || !('tagStart' in event)) return null;
    if (event.anchorStart !== ABSENT)
      report(line, 'anchors (&name) are not allowed; quote a text that starts with &');
    const value = readContent(event, line);
    if (value === undefined)
      report(line, "expected a value of YAML's core schema; quote a text that starts with !");
    return value ?? null;
  };
  /** undefined: its tag is not of the core schema, or does not fit. */
  const readContent = (event: Extract<Event, { tagStart: number }>, line: number): unknown => {
    const tag = event.tagStart === ABSENT ? '' : text.slice(event.tagStart, event.tagEnd);
    if (event.type === EVENT_ID.SCALAR) {
      const source = getScalarValue(text, event);
      if (tag === '')
        return event.style === SCALAR_STYLE.PLAIN
          ? CORE_SCHEMA.resolveImplicitScalarTag(source).value
          : source;
      const name = tag.replace(/^!!/u, 'tag:yaml.org,2002:');
      const value = tag === '!' ? source : CORE_SCHEMA.lookupScalarTag(name)?.resolve(source, true, name);
      return value === NOT_RESOLVED ? undefined : value;
    }
    const isMap = event.type === EVENT_ID.MAPPING;
    const value = isMap ? readEntries(line) : readItems(line);
    return ['', '!', isMap ? '!!map' : '!!seq'].includes(tag) ? value : undefined;
  };
  const readEntries = (line: number): unknown => {
    const map: Record<string, unknown> = Object.create(null);
    const seen = new Map<string, number>();
    while (!closes()) {
      const event = events[next];
      const offset = event === undefined ? ABSENT : offsetOf(event);
      const at = offset === ABSENT ? line : lineOf(offset);
      const name = event?.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : undefined;
      readNode(line);
      if (name === undefined) {
        report(at, 'expected a word as the key');
        readNode(at);
        continue;
      }
      const outer = path;
      path = [...outer, name];
      lines.set(lineKey(path), at);
      if (seen.has(name)) report(at, `set twice; first in line ${seen.get(name)}`);
      else seen.set(name, at);
      if (name === '<<') report(at, 'merge keys (<<) are not allowed');
      if (name === '__proto__') report(at, 'is not allowed as a key');
      const value = readNode(at);
      if (name !== '__proto__') map[name] = value;
      path = outer;
    }
    return map;
  };
  const readItems = (line: number): unknown => {
    const list: unknown[] = [];
    const outer = path;
    while (!closes()) {
      path = pathOfItem(outer, list.length);
      list.push(readNode(line));
    }
    path = outer;
    return list;
  };
  const closes = (): boolean => {
    const event = events[next];
    const isEnd = event === undefined || event.type === EVENT_ID.POP;
    if (isEnd) next++;
    return isEnd;
  };

  const [document, content] = events;
  if (document?.type !== EVENT_ID.DOCUMENT) return { value: undefined, lines, problems };
  const isEmpty = content?.type === EVENT_ID.SCALAR && offsetOf(content) === ABSENT;
  const value = readNode(1);
  if (next + 1 < events.length) {
    // A document event has no position, so this looks for the marker after the last value.
    const marker = /^(?:---|\.\.\.)/gmu;
    marker.lastIndex = lastOffset;
    if (lastOffset === 0 && document.explicitStart) marker.exec(text);
    report(lineOf(marker.exec(text)?.index ?? text.length), 'expected one document, found another');
  }
  return { value: isEmpty ? undefined : value, lines, problems };
}

function offsetOf(event: Event): number {
  if ('tagStart' in event && event.tagStart !== ABSENT) return event.tagStart;
  if ('anchorStart' in event && event.anchorStart !== ABSENT) return event.anchorStart;
  if ('valueStart' in event) return event.valueStart;
  return 'start' in event ? event.start : ABSENT;
}

/** Offset → line from 1. CR, LF and CRLF end a line, as in YAML. */
export function createLineFinder(text: string): (offset: number) => number {
  const starts = [...text.matchAll(/\r\n|\r|\n/gu)].map((match) => match.index + match[0].length);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
