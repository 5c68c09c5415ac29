/** The payload of GET /api/pw, and the result of the power commands. */
import * as v from 'valibot';
import { capability } from './capability.ts';
import { means } from './meaning.ts';
import type { DocsOf, OperationDocs } from './operation-docs.ts';
import { count, type Shape, unixSeconds } from './quantities.ts';
import { type POWER_ACTIONS, powerParams } from './requests.ts';

/** An action and its time. */
const timedPowerAction = v.strictObject({
  action: means(v.string(), 'Name of the action.'),
  at: means(unixSeconds, 'Time at which it is due, or was handed to the system.'),
});
export type TimedPowerAction = Shape<typeof timedPowerAction>;

/** A program that asks the machine to stay awake or on. */
const inhibitor = v.strictObject({
  who: means(v.string(), 'The program.'),
  why: means(v.string(), 'Its reason.'),
  what: means(v.string(), 'The actions, as logind writes them: separated by colons (`shutdown:sleep:idle`).'),
  uid: means(count, 'Its user id.'),
});
export type Inhibitor = Shape<typeof inhibitor>;

/** One key per action. */
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
  pending: means(
    v.nullable(timedPowerAction),
    'The action that was scheduled with `delay`; null without one.',
  ),
  inhibitors: means(v.array(inhibitor), 'Programs that ask the machine to stay on or awake.'),
  recorded: means(
    v.array(timedPowerAction),
    'Actions that `power.backend: record` would have carried out; empty with any other backend.',
  ),
});
export type PowerPayload = Shape<typeof powerPayload>;

export const powerResult = v.strictObject({
  status: v.literal('ok'),
  message: means(v.string(), '`Command initiated` for an action.'),
});
export type PowerResult = Shape<typeof powerResult>;

const ORDER =
  'The answer is sent before the machine acts. A body is ignored. If the machine cannot do it, the answer is 501 `not_supported` with the reason; if a program of root inhibits it, 409 `not_possible_now`, which `force=1` overrides; if another action is scheduled, 409 `power_pending`.';

const powerAction = (summary: string, description: string, example: OperationDocs['example'] = {}) => ({
  summary,
  description,
  query: powerParams,
  payloads: [powerResult],
  errors: ['invalid_value', 'power_pending', 'not_possible_now', 'not_supported'] as const,
  example,
});

const OFF = 'Its flag is off by default.';
const AS_SHUTDOWN = 'Answered as `POST /api/pw/shutdown`.';

export const POWER_DOCS: DocsOf<'getPower' | 'cancelPower' | (typeof POWER_ACTIONS)[number]> = {
  getPower: {
    summary: 'The power actions that work here, and what is scheduled',
    description: 'Also lists the programs that inhibit an action.',
    payloads: [powerPayload],
    errors: [],
  },
  shutdown: powerAction('Shut the machine down', `${OFF} ${ORDER}`, { target: '/api/pw/shutdown?delay=60' }),
  restart: powerAction('Restart the machine', `${OFF} ${AS_SHUTDOWN}`),
  sleep: powerAction('Put the machine to sleep', AS_SHUTDOWN),
  hibernate: powerAction(
    'Hibernate the machine',
    `Its flag follows \`features.enable_sleep\` where it is not set. ${AS_SHUTDOWN}`,
  ),
  lock: powerAction('Lock the session', AS_SHUTDOWN),
  cancelPower: {
    summary: 'Cancel the scheduled power action',
    description:
      'A request with a delay that is still being checked is withdrawn too: its answer is 409 `not_possible_now`. ' +
      'Returns 200 even when nothing is scheduled. A body is ignored.',
    payloads: [powerResult],
    errors: [],
  },
};
