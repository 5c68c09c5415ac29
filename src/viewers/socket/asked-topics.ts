/** The topics that a client names: those that a machine sends, and those that the client may see. */
import type { Machine } from '../../machine/machine.ts';
import { allows, type Scopes } from '../../scopes.ts';
import { topicScopeOf } from './topic-state.ts';
import { EVENTS_BIT, namesOf, readTopics, type Topics, topicsWhere } from './topics.ts';

interface Asked extends Topics {
  readonly unknown: readonly string[];
}

/** Some machines do not send the events of watch rules. */
export function readMachineTopics(names: readonly string[], { sendsEvents }: Machine): Asked {
  const { sections, states, unknown } = readTopics(names);
  if (sendsEvents || (states & EVENTS_BIT) === 0) return { sections, states, unknown };
  return { sections, states: states & ~EVENTS_BIT, unknown: [...unknown, 'events'] };
}

/** Returns the topics that `scopes` lets a client see, and the names of the others. */
export function permittedTopics(
  { sections, states }: Topics,
  scopes: Scopes,
): { readonly asked: Topics; readonly forbidden: readonly string[] } {
  const isReader = allows(scopes, 'read');
  const visible = topicsWhere((name) => allows(scopes, topicScopeOf(name))) | (isReader ? EVENTS_BIT : 0);
  const asked = { sections: isReader ? sections : 0, states: states & visible };
  return { asked, forbidden: namesOf({ sections: isReader ? 0 : sections, states: states & ~visible }) };
}
