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

const MINUTE_MS = 60_000;
/** Clients cause lines, so their number has a limit, for each kind: `media`, `power`, `process`, and all others. */
const MAX_LINES_PER_MINUTE = 100;

/** Counts the lines of each kind in the current minute; returns how the next one is to be treated. */
function createLimiter(now: () => number): (text: string) => 'write' | 'write the last' | 'leave out' {
  const counts = new Map<string, number>();
  let startedAt = Number.NEGATIVE_INFINITY;
  return (text) => {
    if (now() - startedAt >= MINUTE_MS) {
      counts.clear();
      startedAt = now();
    }
    const kind = /^[a-z]+(?=:)/.exec(text)?.[0] ?? '';
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count === MAX_LINES_PER_MINUTE) return 'write the last';
    return count < MAX_LINES_PER_MINUTE ? 'write' : 'leave out';
  };
}

/** A log that passes each complete line (with its newline) to `write`. `now`: monotonic milliseconds. */
export function createLog(
  write: (line: string) => void,
  level: LogLevel = 'info',
  now: () => number = () => performance.now(),
): Log {
  let limit = LOG_LEVELS.indexOf(level);
  const treatmentOf = createLimiter(now);
  const logger = (name: LogLevel) => {
    const rank = LOG_LEVELS.indexOf(name);
    return (text: string) => {
      if (rank > limit) return;
      // Debug lines are off by default, and complete where they are on.
      const treatment = name === 'debug' ? 'write' : treatmentOf(text);
      if (treatment === 'leave out') return;
      const end = treatment === 'write' ? '' : ' (further lines of this kind are left out for a minute)';
      write(`hostwire ${name}: ${text.replace(UNSAFE, ' ')}${end}\n`);
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
