/** The log: one line per event, with its level. Callers never pass secrets. */

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Log {
  readonly error: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly info: (text: string) => void;
  readonly debug: (text: string) => void;
  setLevel(level: LogLevel): void;
}

// With control characters or line separators a peer could forge log lines, or control a terminal.
const UNSAFE = /[\p{Cc}\u2028\u2029]/gu;

/** A log that passes each complete line (with its newline) to `write`. */
export function createLog(write: (line: string) => void, level: LogLevel = 'info'): Log {
  let limit = LOG_LEVELS.indexOf(level);
  const logger = (name: LogLevel) => {
    const rank = LOG_LEVELS.indexOf(name);
    return (text: string) => {
      if (rank <= limit) write(`hostwire ${name}: ${text.replace(UNSAFE, ' ')}\n`);
    };
  };
  return {
    error: logger('error'),
    warn: logger('warn'),
    info: logger('info'),
    debug: logger('debug'),
    setLevel(next) {
      limit = LOG_LEVELS.indexOf(next);
    },
  };
}
