/** The ops subscribe and unsubscribe of a hub's WebSockets, for one machine. */
import { ServiceError } from '../../errors.ts';
import { EVENTS_BIT, namesOf, readTopics, type Topics } from '../../http/socket/topic-names.ts';
import type { MessageId, OpData } from '../../wire/socket.ts';
import { frame, refusalFrame } from './messages.ts';
import type { SocketHost } from './rooms.ts';
import type { Session } from './session.ts';
import { NOTHING } from './subscription.ts';

interface Asked extends Topics {
  readonly unknown: readonly string[];
}

/** Events of watch rules come from machines that send them by themselves; others have no such topic here. */
function readHubTopics(names: readonly string[], { followTopic }: SocketHost): Asked {
  const { sections, states, unknown } = readTopics(names);
  if (followTopic !== undefined) return { sections, states, unknown };
  const others = (states & EVENTS_BIT) === 0 ? unknown : [...unknown, 'events'];
  return { sections, states: states & ~EVENTS_BIT, unknown: others };
}

/** Resolves when the states have been sent. Rejects only when something is broken. */
export async function subscribe(
  session: Session,
  host: SocketHost,
  { topics, mode, detail }: OpData<'subscribe'>,
  id: MessageId | undefined,
): Promise<void> {
  const place = session.placeOf(host, id);
  const { unknown, ...asked } = readHubTopics(topics, host);
  try {
    const subscription = session.subscriptionOf(host);
    const isAdded = mode === 'add';
    const before = isAdded ? subscription.topics : NOTHING;
    const next = { sections: before.sections | asked.sections, states: before.states | asked.states };
    session.send(frame('subscribed', { topics: namesOf(next), unknown }, place));
    if (next.sections === 0 && next.states === 0) {
      session.drop(host.id);
      return;
    }
    subscription.sendCondition(id);
    subscription.follow(next, detail || (isAdded && subscription.withDetail), asked.sections !== 0, id);
    await subscription.sendSnapshots(asked.states, id);
  } catch (error) {
    const text = error instanceof ServiceError ? refusalFrame(error, place) : undefined;
    if (text === undefined) throw error;
    session.send(text);
  }
}

export function unsubscribe(
  session: Session,
  host: SocketHost,
  { topics }: OpData<'unsubscribe'>,
  id: MessageId | undefined,
): void {
  const place = session.placeOf(host, id);
  const subscription = session.findSubscription(host);
  const before = subscription?.topics ?? NOTHING;
  const { unknown, ...asked } =
    topics === undefined ? { ...before, unknown: [] } : readHubTopics(topics, host);
  const next = { sections: before.sections & ~asked.sections, states: before.states & ~asked.states };
  const more = unknown.length === 0 ? {} : { unknown };
  session.send(frame('subscribed', { topics: namesOf(next), ...more }, place));
  if (next.sections === 0 && next.states === 0) session.drop(host.id);
  else subscription?.follow(next, subscription.withDetail, false, undefined);
}
