/** Parses YAML's core schema with the line of every value: one document, no aliases, no anchors, no merge keys. */
import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  NOT_RESOLVED,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml';
import { KEY_GROUPS } from '../rows/key-table.ts';
import {
  createLineFinder,
  type Line,
  MAX_DEPTH,
  type MapEntry,
  type Parsed,
  type Scalar,
  type TextProblem,
  type Tree,
} from './tree.ts';
import { explainYamlError } from './yaml-errors.ts';

type EventOf<T extends Event['type']> = Extract<Event, { type: T }>;
type ScalarEvent = EventOf<typeof EVENT_ID.SCALAR>;
type CollectionEvent = EventOf<typeof EVENT_ID.MAPPING> | EventOf<typeof EVENT_ID.SEQUENCE>;
type DocumentEvent = EventOf<typeof EVENT_ID.DOCUMENT>;

const ABSENT = -1;
/** js-yaml takes a time for each that grows with the text. */
const MAX_TAGS = 100;
const POP: Event = { type: EVENT_ID.POP };
const UNKNOWN_TAG = "expected a value of YAML's core schema; quote a text that starts with !";

export function parseYaml(text: string): Parsed {
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    return { tree: undefined, problems: [describeSyntax(error, text)] };
  }
  const document = events[0];
  if (document?.type !== EVENT_ID.DOCUMENT) return { tree: undefined, problems: [] };
  return new Builder(text, events, document).build();
}

// The parser's reason may quote a tag, and a secret that starts with "!" is read as one, so quotations are cut.
function describeSyntax(error: unknown, text: string): TextProblem {
  if (!(error instanceof YAMLException)) throw error;
  const reason = error.reason.replace(/(?<=characters): .*$/su, '').replace(/"[\s\S]*"/gu, '"…"');
  const { line: at = 0, position = text.length } = error.mark ?? {};
  const { line, message } = explainYamlError(text, { line: at, position, reason });
  return { line, path: guessPath(text, line), message: `not YAML: ${message}` };
}

// The parser gives no path, so the nearest line at or above the error that starts a known key names it. Unknown
// words are not taken, because they may be part of a value.
function guessPath(text: string, line: number): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/u).slice(0, line);
  let name: string | undefined;
  for (const candidate of lines.reverse()) {
    const [, indent = '', word = ''] = /^([ \t]*)["']?(\w+)["']?[ \t]*:/u.exec(candidate) ?? [];
    if (indent === '' && Object.hasOwn(KEY_GROUPS, word)) {
      return name !== undefined && Object.hasOwn(KEY_GROUPS[word] ?? {}, name) ? [word, name] : [word];
    }
    if (indent !== '') name ??= word;
  }
  return [];
}

class Builder {
  readonly #text: string;
  readonly #events: readonly Event[];
  readonly #lineOf: (offset: number) => number;
  readonly #problems: TextProblem[] = [];
  readonly #path: string[] = [];
  readonly #document: DocumentEvent;
  #next = 1;
  #tags = 0;
  #lastOffset = 0;

  constructor(text: string, events: readonly Event[], document: DocumentEvent) {
    this.#text = text;
    this.#events = events;
    this.#document = document;
    this.#lineOf = createLineFinder(text);
  }

  build(): Parsed {
    const content = this.#events[this.#next];
    const isEmpty = content?.type === EVENT_ID.SCALAR && offsetOf(content) === ABSENT;
    const tree = this.#readNode(1);
    if (this.#next + 1 < this.#events.length) {
      this.#report(this.#findSecondDocument(), 'expected one document, found another');
    }
    return { tree: isEmpty ? undefined : tree, problems: this.#problems };
  }

  // A document event has no position, so this looks for the marker after the last value.
  #findSecondDocument(): number {
    const marker = /^(?:---|\.\.\.)/gmu;
    marker.lastIndex = this.#lastOffset;
    if (this.#lastOffset === 0 && this.#document.explicitStart) marker.exec(this.#text);
    return this.#lineOf(marker.exec(this.#text)?.index ?? this.#text.length);
  }

  #readNode(lineAbove: Line): Tree {
    const event = this.#events[this.#next++];
    const offset = event === undefined ? ABSENT : offsetOf(event);
    this.#lastOffset = Math.max(this.#lastOffset, offset);
    const line = offset === ABSENT ? lineAbove : this.#lineOf(offset);
    if (event?.type === EVENT_ID.ALIAS)
      this.#report(line, 'aliases (*name) are not allowed; quote a text that starts with *');
    else if (event !== undefined && 'anchorStart' in event && event.anchorStart !== ABSENT) {
      this.#report(line, 'anchors (&name) are not allowed; quote a text that starts with &');
    }
    if (event?.type === EVENT_ID.MAPPING)
      return { kind: 'map', line, entries: this.#readEntries(event, line) };
    if (event?.type === EVENT_ID.SEQUENCE) return { kind: 'list', line, items: this.#readItems(event, line) };
    if (event?.type === EVENT_ID.SCALAR)
      return { kind: 'scalar', line, value: this.#readScalar(event, line) };
    return { kind: 'scalar', line, value: null };
  }

  #readEntries(event: CollectionEvent, line: Line): MapEntry[] {
    this.#checkTag(event, line);
    const entries: MapEntry[] = [];
    while (!this.#closes()) {
      const keyEvent = this.#events[this.#next];
      const key = this.#readNode(line);
      if (keyEvent?.type === EVENT_ID.SCALAR) {
        const name = getScalarValue(this.#text, keyEvent);
        this.#path.push(name);
        if (name === '<<') this.#report(key.line, 'merge keys (<<) are not allowed');
        entries.push({ key: name, line: key.line, value: this.#readNode(key.line) });
        this.#path.pop();
      } else {
        this.#report(key.line, 'expected a word as the key');
        this.#readNode(key.line);
      }
    }
    return entries;
  }

  #readItems(event: CollectionEvent, line: Line): Tree[] {
    this.#checkTag(event, line);
    const items: Tree[] = [];
    while (!this.#closes()) items.push(this.#readNode(line));
    return items;
  }

  #readScalar(event: ScalarEvent, line: Line): Scalar {
    const isTagged = event.tagStart !== ABSENT;
    const value = isTagged ? this.#construct(event, [POP], line) : resolveUntagged(this.#text, event);
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return value;
    this.#report(line, UNKNOWN_TAG);
    return null;
  }

  #checkTag(event: CollectionEvent, line: Line): void {
    if (event.tagStart !== ABSENT) this.#construct(event, [POP, POP], line);
  }

  // js-yaml resolves the node by the core schema. Alone in a document, it can fail for its tag only.
  #construct(event: ScalarEvent | CollectionEvent, closing: readonly Event[], line: Line): unknown {
    if (++this.#tags === MAX_TAGS) this.#report(line, 'there are too many tags; leave them out');
    if (this.#tags >= MAX_TAGS) return null;
    // An anchor was reported already.
    const plain = { ...event, anchorStart: ABSENT, anchorEnd: ABSENT };
    try {
      return constructFromEvents([this.#document, plain, ...closing], {
        source: this.#text,
        schema: CORE_SCHEMA,
      })[0];
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      this.#report(line, UNKNOWN_TAG);
      return null;
    }
  }

  #closes(): boolean {
    const event = this.#events[this.#next];
    if (event !== undefined && event.type !== EVENT_ID.POP) return false;
    this.#next++;
    return true;
  }

  #report(line: Line, message: string): void {
    this.#problems.push({ line, path: [...this.#path], message });
  }
}

// The core schema reads a plain scalar as null, a boolean or a number where it looks like one; otherwise as a text.
function resolveUntagged(text: string, event: ScalarEvent): unknown {
  const source = getScalarValue(text, event);
  if (event.style !== SCALAR_STYLE.PLAIN) return source;
  for (const tag of CORE_SCHEMA.tags) {
    if (tag.nodeKind !== 'scalar' || !tag.implicit) continue;
    const value: unknown = tag.resolve(source, false, tag.tagName);
    if (value !== NOT_RESOLVED) return value;
  }
  return source;
}

function offsetOf(event: Event): number {
  if ('tagStart' in event && event.tagStart !== ABSENT) return event.tagStart;
  if ('anchorStart' in event && event.anchorStart !== ABSENT) return event.anchorStart;
  if ('valueStart' in event) return event.valueStart;
  return 'start' in event ? event.start : ABSENT;
}
