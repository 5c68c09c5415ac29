/** The topics of a machine at a broker, below the prefix of the configuration: `hostwire/pc/status`. */

const ID = /^[A-Za-z0-9_-]{1,64}$/;

export const statusTopic = (prefix: string, id: string): string => `${prefix}/${id}/status`;
/** From a hub to a machine. */
export const inTopic = (prefix: string, id: string, hub: string): string => `${prefix}/${id}/in/${hub}`;
/** From a machine to a hub. */
export const outTopic = (prefix: string, id: string, hub: string): string => `${prefix}/${id}/out/${hub}`;

/** Returns the parts of a topic, with an empty hub where it is for none; undefined: it is none of these. */
export function readTopic(prefix: string, topic: string) {
  if (!topic.startsWith(`${prefix}/`)) return undefined;
  const [id = '', kind = '', hub, ...more] = topic.slice(prefix.length + 1).split('/');
  if (!ID.test(id) || more.length > 0 || (hub !== undefined && !ID.test(hub))) return undefined;
  return { id, kind, hub: hub ?? '' };
}
