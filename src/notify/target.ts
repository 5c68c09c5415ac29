/** A receiver: sends it one message, and judges its answer. */
import type { TargetEntry } from '../config/rows/notify-rows.ts';
import { messageOf as reasonOf } from '../errors.ts';
import { formOf } from './forms.ts';
import type { Message } from './message.ts';
import { type Answer, send } from './request.ts';

export type Outcome =
  | { readonly kind: 'sent' }
  /** The same message would be refused again. `gone`: all others too. */
  | { readonly kind: 'refused' | 'gone'; readonly reason: string }
  /** It is tried again, not before `pauseMs` have passed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly pauseMs: number };

export interface TargetOptions {
  readonly name: string;
  readonly entry: TargetEntry;
  /** As NotifyDeps. */
  readonly link: (machine: string | undefined) => string | undefined;
  readonly unixMs: () => number;
}

/** Sends `message`. Rejects where nothing has answered, with the reason and no address. */
export async function deliver(
  message: Message,
  { name, entry, link, unixMs }: TargetOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const form = formOf(message, {
    name,
    entry,
    link: link(message.labels['machine']),
    now: Math.floor(unixMs() / 1000),
  });
  return await send({ ...form, pin: entry.pin, ca: entry.ca?.pem }, signal);
}

/** As `deliver`, and judges the answer. Never rejects. */
export async function attempt(
  message: Message,
  options: TargetOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    return judge(await deliver(message, options, signal), options);
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error), pauseMs: 0 };
  }
}

/** The longest pause that a receiver may ask for. */
const LONGEST_PAUSE_SECONDS = 3600;

export function judge(
  { status, retryAfter }: Pick<Answer, 'status' | 'retryAfter'>,
  { entry, unixMs }: Pick<TargetOptions, 'entry' | 'unixMs'>,
): Outcome {
  if (status >= 200 && status < 300) return { kind: 'sent' };
  if (status === 410 && entry.type === 'webhook')
    return { kind: 'gone', reason: 'it wants no more messages (410)' };
  if (status === 429 || status === 408 || status >= 500)
    return { kind: 'failed', reason: `it answers with ${status}`, pauseMs: pauseOf(retryAfter, unixMs()) };
  const reason =
    status >= 300 && status < 400
      ? `it answers with ${status}, a redirect, which is not followed; correct its url`
      : `it refuses a message (${status})`;
  return { kind: 'refused', reason };
}

/** `Retry-After`: seconds, or a date. */
function pauseOf(text: string | undefined, nowMs: number): number {
  if (text === undefined) return 0;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - nowMs) / 1000;
  return Math.min(LONGEST_PAUSE_SECONDS, Math.max(0, seconds || 0)) * 1000;
}
