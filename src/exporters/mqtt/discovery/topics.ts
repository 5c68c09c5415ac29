/** The names of all topics, in one place. */

export interface TopicOptions {
  /** `mqtt.topic`, without a slash at either end. */
  readonly topic: string;
  /** `mqtt.discovery_prefix`; empty where discovery is off. */
  readonly discoveryPrefix: string;
  /** The id of this machine: `[A-Za-z0-9_-]`. */
  readonly id: string;
}

export interface Topics {
  /** `online` or `offline`, retained; the last will. */
  readonly availability: string;
  /** One sample every `mqtt.interval_seconds`, not retained. */
  readonly state: string;
  readonly media: string;
  readonly power: string;
  /** Begins and ends of watch rules. */
  readonly event: string;
  /** The cover image as base64. */
  readonly art: string;
  /** How commands ended. */
  readonly feedback: string;
  /** The device document, retained; undefined where discovery is off. */
  readonly discovery: string | undefined;
  /** Where Home Assistant reports `online`; undefined where discovery is off. */
  readonly homeAssistantStatus: string | undefined;
  /** Where the command `name` (`power.sleep`) is taken. */
  readonly command: (name: string) => string;
}

export function topicsOf({ topic, discoveryPrefix, id }: TopicOptions): Topics {
  const base = `${topic}/${id}`;
  const hasDiscovery = discoveryPrefix !== '';
  return {
    availability: `${base}/availability`,
    state: `${base}/state`,
    media: `${base}/media`,
    power: `${base}/power`,
    event: `${base}/event`,
    art: `${base}/art`,
    feedback: `${base}/feedback`,
    discovery: hasDiscovery ? `${discoveryPrefix}/device/${id}/config` : undefined,
    homeAssistantStatus: hasDiscovery ? `${discoveryPrefix}/status` : undefined,
    command: (name) => `${base}/command/${name}`,
  };
}
