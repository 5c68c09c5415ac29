/** The operations of power. */
import { powerPayload, powerResult } from '../wire/power.ts';
import { POWER_ACTIONS, powerParams } from '../wire/requests.ts';
import type { Methods, Operation, Operations } from './operation.ts';

const powerSummaries: Readonly<Record<(typeof POWER_ACTIONS)[number], string>> = {
  shutdown: 'Shut the machine down',
  restart: 'Restart the machine',
  sleep: 'Put the machine to sleep',
  hibernate: 'Hibernate the machine',
  lock: 'Lock the session',
};

function powerOperation(action: (typeof POWER_ACTIONS)[number]): Operation {
  return {
    id: action,
    tag: 'power',
    summary: powerSummaries[action],
    description:
      "The answer leaves before the act. A body is read and ignored. 501 says why the machine can't do it, 409 who holds it up; `force` overrides that.",
    feature: `enable_${action === 'lock' ? 'sleep' : action}`,
    query: powerParams,
    ignoresBody: true,
    payloads: [powerResult],
    errors: ['invalid_value', 'power_pending', 'not_possible_now', 'not_supported'],
  };
}

export const POWER_OPERATIONS: Operations = {
  '/api/pw': {
    GET: {
      id: 'getPower',
      tag: 'power',
      summary: 'What the machine can be told, and what is scheduled',
      payloads: [powerPayload],
      errors: [],
    },
  },
  ...Object.fromEntries(
    POWER_ACTIONS.map((action): [string, Methods] => [`/api/pw/${action}`, { POST: powerOperation(action) }]),
  ),
  '/api/pw/cancel': {
    POST: {
      id: 'cancelPower',
      tag: 'power',
      summary: 'Take back what was scheduled with a delay',
      description: 'Nothing pending is a success as well.',
      ignoresBody: true,
      payloads: [powerResult],
      errors: [],
    },
  },
};
