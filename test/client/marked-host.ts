/** A host whose readings all differ, across all services that are started with it. */
import type { Host } from '#src/host/host.js';
import { fixtureHost } from '../helpers/fakes/host.ts';

/** The amount that each start adds to the mark. */
export const PER_START = 1_000_000;

let readings = 0;

/** `network.bytesRecv` of a sample is `start` × PER_START and the number of the reading. */
export function markedHost(start: number): Host {
  const host = fixtureHost();
  return {
    ...host,
    readCounters(...asked) {
      const counters = host.readCounters(...asked);
      const { network } = counters;
      if (network === undefined || network === null) return counters;
      const receivedBytes = start * PER_START + ++readings;
      return { ...counters, network: network.map((one) => ({ ...one, receivedBytes })) };
    },
  };
}
