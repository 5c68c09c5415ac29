/** The topics between an agent and its hubs (docs/hub-protocol.md): below `<mqtt.topic>/<id>/hub` at a broker. */

export interface HubTopics {
  /** Retained JSON; the last will. */
  readonly status: string;
  /** Sections as lines, see sample.ts. */
  readonly sample: string;
  readonly media: string;
  readonly power: string;
  /** The topic of the events of watch rules. */
  readonly event: string;
  /** Where hubs renew their leases. */
  readonly want: string;
  /** Where a hub asks for an answer. */
  readonly get: string;
  /** All commands, and what is asked. */
  readonly commands: string;
  /** The name of the command (`power.sleep`) that is taken on `topic`; undefined: none is. */
  readonly commandOn: (topic: string) => string | undefined;
  /** Where the hub of that name is answered. */
  readonly feedback: (hub: string) => string;
}

/** `topic`: of the configuration; `id`: of this machine. */
export const hubTopicsOf = (topic: string, id: string): HubTopics => topicsBelow(`${topic}/${id}/hub/`);

/** `base`: ends with a slash; '' on a connection to one hub. */
export function topicsBelow(base: string): HubTopics {
  const begin = `${base}cmd/`;
  return {
    status: `${base}status`,
    sample: `${base}sample`,
    media: `${base}media`,
    power: `${base}power`,
    event: `${base}event`,
    want: `${base}want`,
    get: `${begin}get`,
    commands: `${begin}#`,
    // No dot: nats-server takes a topic for a subject, in which a dot stands between levels.
    commandOn(text) {
      const [group = '', action = '', ...rest] = text.slice(begin.length).split('/');
      const isOne = text.startsWith(begin) && group !== '' && action !== '' && rest.length === 0;
      return isOne ? `${group}.${action}` : undefined;
    },
    feedback: (hub) => `${base}feedback/${hub}`,
  };
}
