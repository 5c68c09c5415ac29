/** The forms of a line of the log. */
import { clean, escapeJson } from '../clean.ts';
import { TEXTS } from '../fairness/limits.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields that an operator searches for. `address`: of the client behind the line; `keyed`: whether it sent the key. */
export interface LogFields {
  readonly address?: string | undefined;
  readonly keyed?: boolean | undefined;
  readonly [name: string]: string | number | boolean | undefined;
}

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogEntry {
  readonly level: LogLevel;
  readonly text: string;
  readonly fields: LogFields;
}

const NEEDS_QUOTES = /[\s"=]|^$/u;

// Peers choose parts of these texts: they must not forge lines, or control a terminal.
const cleanValue = (value: string | number | boolean) =>
  typeof value === 'string' ? clean(value, TEXTS.field) : value;

function known(fields: LogFields): readonly (readonly [string, string | number | boolean])[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, cleanValue(value)]],
  );
}

function body({ text, fields }: LogEntry): string {
  const words = known(fields).map(([name, value]) => {
    const shown = String(value);
    return ` ${name}=${NEEDS_QUOTES.test(shown) ? JSON.stringify(shown) : shown}`;
  });
  return `${clean(text, TEXTS.line)}${words.join('')}\n`;
}

/** Writes `hostwire warn: TEXT name=value`: for output to which another program adds the time. */
export const formatPlain = (entry: LogEntry) => `hostwire ${entry.level}: ${body(entry)}`;

const timestamp = () => new Date().toISOString();

const formatTimed = (entry: LogEntry) => `${timestamp()} ${formatPlain(entry)}`;

/** Priorities of syslog, which journald reads at the beginning of a line (sd-daemon(3)). */
const PRIORITIES: Readonly<Record<LogLevel, number>> = { error: 3, warn: 4, info: 6, debug: 7 };

/** journald adds the time and the name of the service. */
const formatJournal = (entry: LogEntry) => `<${PRIORITIES[entry.level]}>${body(entry)}`;

function formatJson({ level, text, fields }: LogEntry): string {
  const row = {
    time: timestamp(),
    level,
    message: clean(text, TEXTS.line),
    ...Object.fromEntries(known(fields)),
  };
  return `${escapeJson(JSON.stringify(row))}\n`;
}

export interface FormatPlace {
  /** journald reads the lines. */
  readonly isJournal: boolean;
  /** Another program adds the time to the lines. */
  readonly hasTime: boolean;
}

export function formatOf(
  format: LogFormat,
  { isJournal, hasTime }: FormatPlace,
): (entry: LogEntry) => string {
  if (format === 'json') return formatJson;
  if (isJournal) return formatJournal;
  return hasTime ? formatPlain : formatTimed;
}

/** Returns whether the open file of `stream` is the one that systemd names in JOURNAL_STREAM (systemd.exec(5)). */
export function isJournal(
  variables: Readonly<Record<string, string | undefined>>,
  stream: { readonly dev: number; readonly ino: number } | undefined,
): boolean {
  return stream !== undefined && variables['JOURNAL_STREAM'] === `${stream.dev}:${stream.ino}`;
}
