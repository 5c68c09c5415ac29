/** The log: one line per event, with its level and fields. Callers never pass secrets. */
import { formatPlain, LOG_LEVELS, type LogEntry, type LogFields, type LogLevel } from './format.ts';
import { LineLimiter } from './limit.ts';

type Line = (text: string, fields?: LogFields) => void;

export interface Log {
  readonly error: Line;
  readonly warn: Line;
  readonly info: Line;
  readonly debug: Line;
  /** Level info, but written at every log level: a service reports its addresses. */
  readonly notice: Line;
  /** A command of a client and its outcome. Level info; with `auditTo` in a file of its own. */
  readonly audit: Line;
  setLevel(level: LogLevel): void;
  /** Number of lines that were omitted since the start, because of limits. */
  readonly leftOut?: () => number;
}

export interface LogOptions {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  readonly format?: (entry: LogEntry) => string;
  /** Writes the lines of `audit`; returns false if the log must write the line instead. */
  readonly auditTo?: (line: string) => boolean;
  /** Calls back after `ms`, without keeping the process alive. */
  readonly later?: (act: () => void, ms: number) => void;
}

/** Creates a log that passes each complete line (with its newline) to `write`. */
export function createLog(
  write: (line: string) => void,
  level: LogLevel = 'info',
  options: LogOptions = {},
): Log {
  const { now = () => performance.now(), format = formatPlain, auditTo, later } = options;
  let limit = LOG_LEVELS.indexOf(level);
  const entryOf = (severity: LogLevel, text: string, fields: LogFields = {}) =>
    format({ level: severity, text, fields });
  const limiter = new LineLimiter({
    now,
    report: (text) => write(entryOf('warn', text)),
    ...(later === undefined ? {} : { later }),
  });
  const isWanted = (severity: LogLevel) => LOG_LEVELS.indexOf(severity) <= limit;
  const line = (severity: LogLevel): Line => {
    return (text, fields) => {
      // Debug lines are off by default, and complete where they are on.
      if (isWanted(severity) && (severity === 'debug' || limiter.takes(text, fields)))
        write(entryOf(severity, text, fields));
    };
  };
  return {
    error: line('error'),
    warn: line('warn'),
    info: line('info'),
    debug: line('debug'),
    notice: (text, fields) => write(entryOf('info', text, fields)),
    audit(text, fields) {
      if (!limiter.takes(text, fields)) return;
      const entry = entryOf('info', text, fields);
      if (auditTo?.(entry) !== true && isWanted('info')) write(entry);
    },
    leftOut: () => limiter.leftOut,
    setLevel(next) {
      limit = LOG_LEVELS.indexOf(next);
    },
  };
}
