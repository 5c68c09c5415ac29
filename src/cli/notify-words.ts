/** The words of `hostwire notify`. */
import { quote } from '../clean.ts';

const UNIT_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };
const TIME = /^(\d{1,4})([mhd])$/;
/** As the service has it. */
const MAX_DAYS = 14;

/** `90m`, `2h`, `3d` in seconds; undefined: it is none of these. */
export function secondsOf(text: string): number | undefined {
  const [, digits, unit = ''] = TIME.exec(text) ?? [];
  const seconds = Number(digits) * (UNIT_SECONDS[unit] ?? 0);
  return seconds > 0 && seconds <= MAX_DAYS * 86_400 ? seconds : undefined;
}

/** Returns what is wrong with the words after `notify`. */
export function describeNotifyProblem([action, ...more]: readonly string[]): string | undefined {
  const [what, time = ''] = more;
  if (action === undefined) return 'notify needs an action: test, mute, unmute or mutes';
  if (action === 'mute') {
    if (more.length < 2) return 'notify mute needs a rule or a machine, and a time such as 2h';
    return secondsOf(time) === undefined
      ? `${quote(time)} is not a time: write 30m, 2h or 3d, at most ${MAX_DAYS}d`
      : undefined;
  }
  if (action === 'unmute' && what === undefined) return 'notify unmute needs a rule or a machine';
  const excess = more[action === 'mutes' ? 0 : 1];
  return excess === undefined ? undefined : `unexpected argument ${quote(excess)}`;
}
