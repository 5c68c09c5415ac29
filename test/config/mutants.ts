/** Generates mutated configurations from a seed, each with its expected outcome, which is derived without the loader. */

import { DEFAULT_CONFIG } from '#src/config/config.js';
import type { Random } from '../helpers/random.ts';
import { asWritten } from './loading.ts';

export type Spelling = 'json' | 'yaml';
export type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A key and its raw value, which need not be valid. */
export interface Line {
  key: string;
  value: string;
}
export interface Section {
  key: string;
  lines: Line[];
}

/** The expected outcome of a mutant. */
export interface Expectation {
  /** undefined: it must be rejected. */
  readonly applied: Values | undefined;
  /** The line that a rejection must name; undefined: any or none (the whole file). */
  readonly line?: number | undefined;
  /** The key that a rejection must name (or one below it); undefined: any or none. */
  readonly key?: string | undefined;
  /** A warning that is expected. */
  readonly warns?: string;
}

export interface Mutant extends Expectation {
  readonly kind: string;
  readonly content: string;
}

/** The configuration that is mutated; no key has its default value. */
export const BASE: Values = {
  stats: { stream_interval_seconds: 5 },
  auth: {
    enabled: true,
    api_key: 'k'.repeat(40),
    allowed_ips: ['10.0.0.0/8', '*'],
    blocked_ips: ['10.0.0.9'],
    refuse_forwarded: false,
  },
  features: {
    enable_sleep: false,
    enable_hibernate: true,
    enable_restart: true,
    enable_shutdown: true,
    enable_media: false,
    enable_processes: false,
    enable_process_control: true,
    enable_wake: true,
    enable_dashboard: false,
    enable_metrics: false,
  },
  discovery: { mdns: true },
  server: {
    max_streams: 10,
    max_connections_per_address: 50,
    max_streams_per_address: 20,
    max_requests_per_address: 30,
    max_kept_megabytes: 40,
    allowed_hosts: ['pc.example.org'],
    cors_origins: ['https://a.example'],
    trusted_proxies: ['127.0.0.1'],
  },
  log: { level: 'warn' },
};

const FLAGS = { good: [true, false], bad: [0, 1, 'true', 'yes', [], {}, [true]] };
const LISTS = {
  bad: ['*', 'x', 5, true, {}, [5], [null], [[]], [{}], ['no such/thing'], ['http://a/b'], ['']],
};

/** Other valid values, and invalid ones: of a wrong type or out of range. Written by hand from the documentation. */
const ALTERNATIVES: Readonly<
  Record<string, { readonly good: readonly unknown[]; readonly bad: readonly unknown[] }>
> = {
  'stats.stream_interval_seconds': {
    good: [1, 2, 3.5, 86400],
    bad: ['5', 86401, 1e300, true, [5], {}],
  },
  'auth.api_key': {
    good: ['x', 'y'.repeat(1024), 'with spaces in it'],
    bad: ['', ' x', 'x ', 'é', 'y'.repeat(1025), 5, true, [], {}],
  },
  'auth.allowed_ips': { good: [[], ['*'], ['::1', '192.168.0.0/16']], ...LISTS },
  'auth.blocked_ips': { good: [[], ['::1', '192.168.0.0/16']], bad: [...LISTS.bad, ['*']] },
  'server.max_streams': { good: [0, 1, 1000000], bad: [-1, 1.5, 1000001, '5', true, [], {}] },
  'server.max_connections_per_address': { good: [0, 1000000], bad: [-1, 1.5, 1000001, '5', [], {}] },
  'server.max_streams_per_address': { good: [0, 1000000], bad: [-1, 1.5, 1000001, '5', [], {}] },
  'server.max_requests_per_address': { good: [0, 1000000], bad: [-1, 1.5, 1000001, '5', [], {}] },
  'server.max_kept_megabytes': { good: [1, 65536], bad: [0, -1, 1.5, 65537, '5', [], {}] },
  'server.allowed_hosts': { good: [[], ['a', 'b.c']], bad: [...LISTS.bad, ['a:1']] },
  'server.cors_origins': { good: [[], ['http://[::1]:1']], bad: [...LISTS.bad, ['null'], ['a.example']] },
  'server.trusted_proxies': { good: [[], ['10.0.0.1']], bad: [...LISTS.bad, ['*']] },
  'log.level': { good: ['error', 'info', 'debug'], bad: ['trace', 'WARN', '', 3, true, [], {}] },
};

const alternativesOf = (path: string) => ALTERNATIVES[path] ?? FLAGS;

function toSections(values: Values): Section[] {
  return Object.entries(values).map(([key, section]) => ({
    key,
    lines: Object.entries(section).map(([name, value]) => ({ key: name, value: JSON.stringify(value) })),
  }));
}

/** Renders one key per line; `lineOf` returns the line of key `at[1]` in section `at[0]`. */
function render(sections: readonly Section[], spelling: Spelling): string {
  if (spelling === 'yaml') {
    return sections
      .map(({ key, lines }) => `${key}:\n${lines.map((line) => `  ${line.key}: ${line.value}\n`).join('')}`)
      .join('');
  }
  const body = sections.map(
    ({ key, lines }) =>
      `${JSON.stringify(key)}: {\n${lines.map((line) => `${JSON.stringify(line.key)}: ${line.value}`).join(',\n')}}`,
  );
  return `{${body.join(',\n')}}\n`;
}

function lineOf(sections: readonly Section[], section: Section, line?: Line): number {
  const before = sections
    .slice(0, sections.indexOf(section))
    .reduce((sum, { lines }) => sum + 1 + lines.length, 0);
  return before + 1 + (line === undefined ? 0 : section.lines.indexOf(line) + 1);
}

function change(path: string, value: unknown): Values {
  const [section = '', key = ''] = path.split('.');
  return { ...BASE, [section]: { ...BASE[section], [key]: value } };
}

function shuffle<T>(random: Random, list: T[]): void {
  for (let index = list.length - 1; index > 0; index--) {
    const [moved] = list.splice(random.below(index + 1), 1);
    if (moved !== undefined) list.push(moved);
  }
}

/** One or two letters dropped, changed, added or swapped; never a known word. */
function misspell(random: Random, word: string, known: readonly string[]): string {
  for (;;) {
    let wrong = word;
    const edits = 1 + random.below(2);
    for (let edit = 0; edit < edits; edit++) {
      const at = random.below(wrong.length);
      const letter = random.pick([...'abcdefghijklmnopqrstuvwxyz_']);
      const [head, tail] = [wrong.slice(0, at), wrong.slice(at)];
      wrong = random.pick([
        head + tail.slice(1),
        head + letter + tail.slice(1),
        head + letter + tail,
        // Not beside another edit: between letters that were swapped, one more is a third edit.
        edits > 1 ? head + tail.slice(1) : head + (tail[1] ?? '') + (tail[0] ?? '') + tail.slice(2),
      ]);
    }
    if (wrong !== '' && !known.includes(wrong)) return wrong;
  }
}

interface Draft {
  readonly random: Random;
  readonly spelling: Spelling;
  readonly sections: Section[];
  readonly section: Section;
  readonly line: Line;
  readonly path: string;
}

type Mutation = (draft: Draft) => Omit<Mutant, 'kind'>;

const text = ({ sections, spelling }: Draft) => render(sections, spelling);
const here = ({ sections, section, line, path }: Draft) => ({
  line: lineOf(sections, section, line),
  key: path,
});

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  unchanged: (draft) => ({ content: text(draft), applied: BASE }),
  'good value': (draft) => {
    const value = draft.random.pick(alternativesOf(draft.path).good);
    draft.line.value = JSON.stringify(value);
    return { content: text(draft), applied: change(draft.path, value) };
  },
  'no value': (draft) => {
    draft.line.value = 'null';
    return { content: text(draft), applied: change(draft.path, DEFAULTS[draft.path]) };
  },
  'key left out': (draft) => {
    draft.section.lines.splice(draft.section.lines.indexOf(draft.line), 1);
    // A section must stay a map.
    if (draft.section.lines.length === 0) draft.sections.splice(draft.sections.indexOf(draft.section), 1);
    return { content: text(draft), applied: change(draft.path, DEFAULTS[draft.path]) };
  },
  'interval below one': (draft) => {
    const section = draft.sections.find(({ key }) => key === 'stats');
    for (const line of section?.lines ?? []) line.value = draft.random.pick(['0.5', '0', '-3', '0.999']);
    return {
      content: text(draft),
      applied: change('stats.stream_interval_seconds', 1),
      warns: 'below the minimum',
    };
  },
  'other order': (draft) => {
    shuffle(draft.random, draft.sections);
    for (const { lines } of draft.sections) shuffle(draft.random, lines);
    return { content: text(draft), applied: BASE };
  },
  'line ends': (draft) => ({ content: text(draft).replaceAll('\n', '\r\n'), applied: BASE }),
  'wrong value': (draft) => {
    draft.line.value = JSON.stringify(draft.random.pick(alternativesOf(draft.path).bad));
    return { content: text(draft), applied: undefined, ...here(draft) };
  },
  'section of a wrong type': ({ random, spelling, sections, section }) => {
    const value = random.pick(['5', '"x"', '[]', 'true']);
    const line = lineOf(sections, section);
    const whole = sections.map((one) => (one === section ? undefined : one));
    const parts = whole.map((one) =>
      one === undefined ? raw(section.key, value, spelling) : unwrap(render([one], spelling), spelling),
    );
    return {
      content: spelling === 'json' ? `{${parts.join(',\n')}}` : parts.join(''),
      applied: undefined,
      line,
      key: section.key,
    };
  },
  'duplicate key': (draft) => {
    const copy = { ...draft.line, value: draft.random.below(2) === 0 ? draft.line.value : 'null' };
    draft.section.lines.push(copy);
    return {
      content: text(draft),
      applied: undefined,
      line: lineOf(draft.sections, draft.section, copy),
      key: draft.path,
    };
  },
  'misspelt key': (draft) => {
    const known = Object.keys(DEFAULTS).map((path) => path.split('.')[1] ?? '');
    draft.line.key = misspell(draft.random, draft.line.key, known);
    return {
      content: text(draft),
      applied: undefined,
      ...here(draft),
      key: `${draft.section.key}.${draft.line.key}`,
    };
  },
  'misspelt section': (draft) => {
    // Two edits may cancel each other.
    const known = [...Object.keys(BASE), 'power', 'processes', 'host', 'hub', 'wake', 'watch', 'mqtt'];
    draft.section.key = misspell(draft.random, draft.section.key, known);
    return { content: text(draft), applied: undefined, key: draft.section.key };
  },
  'unknown key elsewhere': (draft) => {
    const key = draft.random.pick(['colour', 'zzzzzzz', 'constructor', 'toString', 'hasOwnProperty']);
    const isTop = draft.section.key === 'auth' || draft.random.below(2) === 0;
    if (isTop) draft.sections.push({ key, lines: [{ key: 'qqqqqqq', value: '"x"' }] });
    else draft.section.lines.push({ key, value: '[{"a": 1}]' });
    return {
      content: text(draft),
      applied: BASE,
      warns: `${isTop ? '' : `${draft.section.key}.`}${key}: unknown key`,
    };
  },
  truncated: (draft) => {
    // A part of a YAML text may be valid YAML.
    const whole = text(draft);
    const content =
      draft.spelling === 'json' ? whole.slice(0, 1 + draft.random.below(whole.length - 3)) : `${whole}x: "`;
    return { content, applied: undefined };
  },
};

export const KINDS = Object.keys(MUTATIONS);

function raw(key: string, value: string, spelling: Spelling): string {
  return spelling === 'json' ? `${JSON.stringify(key)}: ${value}` : `${key}: ${value}\n`;
}

function unwrap(whole: string, spelling: Spelling): string {
  return spelling === 'json' ? whole.slice(1, -2) : whole;
}

/** The defaults of BASE's keys, which load.test.ts has one by one. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    Object.entries(asWritten(DEFAULT_CONFIG) as Values).flatMap(([section, keys]) =>
      Object.keys(BASE[section] ?? {}).map((key) => [`${section}.${key}`, keys[key]]),
    ),
  ),
  // Follows enable_sleep, which is false in BASE.
  'features.enable_hibernate': false,
};

export function mutate(random: Random, kind: string, spelling: Spelling): Mutant {
  const sections = toSections(BASE);
  const section = random.pick(sections);
  const line = random.pick(section.lines);
  const mutation = MUTATIONS[kind];
  if (mutation === undefined) throw new Error(`no such mutation: ${kind}`);
  return {
    kind,
    ...mutation({ random, spelling, sections, section, line, path: `${section.key}.${line.key}` }),
  };
}

/** BASE as text. */
export function renderBase(spelling: Spelling): string {
  return render(toSections(BASE), spelling);
}
