/** A machine that is up and pushes nothing; only its condition, and answers to questions, are used. */
import type { Machine } from '#src/machine/machine.js';

/** A function that must not be called. */
export const unused = (): never => {
  throw new Error('not used here');
};

export const idleMachine = (id: string, ask: Machine['ask'] = async () => ({ bytes: '{}' })): Machine => ({
  id,
  condition: { state: 'up', since: 1 },
  ask,
  followTopic: () => undefined,
  subscribe: unused,
  first: unused,
  usage: unused,
  check: unused,
  hasEvents: unused,
});
