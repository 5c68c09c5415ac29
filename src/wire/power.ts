/** What GET /api/pw answers, and what the power commands answer with. */
import * as v from 'valibot';
import { capability } from './capability.ts';
import { count, type Shape, unixSeconds } from './quantities.ts';

/** An act and when it is due, or was handed over. */
const timedPowerAct = v.strictObject({ action: v.string(), at: unixSeconds });
export type TimedPowerAct = Shape<typeof timedPowerAct>;

/** A program that asks the machine to stay awake or up. */
const inhibitor = v.strictObject({
  who: v.string(),
  why: v.string(),
  what: v.pipe(
    v.string(),
    v.description('What is held off, as logind spells it, separated by colons (`shutdown:sleep:idle`).'),
  ),
  uid: count,
});
export type Inhibitor = Shape<typeof inhibitor>;

/** One act on the machine each. */
export const powerCapabilities = v.strictObject({
  shutdown: capability,
  restart: capability,
  sleep: capability,
  hibernate: capability,
  lock: capability,
});
export type PowerCapabilities = Shape<typeof powerCapabilities>;

export const powerPayload = v.strictObject({
  actions: powerCapabilities,
  pending: v.pipe(v.nullable(timedPowerAct), v.description('What was scheduled with `delay`.')),
  inhibitors: v.array(inhibitor),
  recorded: v.pipe(
    v.array(timedPowerAct),
    v.description('What the recording backend would have done; empty with any other.'),
  ),
});
export type PowerPayload = Shape<typeof powerPayload>;

export const powerResult = v.strictObject({
  status: v.literal('ok'),
  message: v.pipe(v.string(), v.description('`Command initiated` for an action.')),
});
export type PowerResult = Shape<typeof powerResult>;
