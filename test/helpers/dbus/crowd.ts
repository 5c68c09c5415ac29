/** Takes and releases ten thousand names on a bus, in a separate thread so that its work does not delay timed tests. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DbusPeer } from './peer.ts';

interface Job {
  readonly address: string;
  readonly names: readonly string[];
}

export interface Crowd {
  /** Resolves when all names are taken. */
  readonly arrived: Promise<void>;
  /** Ends the connection, and with it all names. */
  readonly leave: () => Promise<void>;
}

export function startCrowd(address: string, names: readonly string[]): Crowd {
  const job: Job = { address, names };
  const worker = new Worker(new URL(import.meta.url), { workerData: job });
  const arrived = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
  });
  return {
    arrived,
    async leave() {
      await arrived;
      await worker.terminate();
    },
  };
}

// This file is also the worker.
if (!isMainThread && parentPort !== null) {
  // startCrowd passes it.
  const { address, names } = workerData as Job;
  const peer = await DbusPeer.open(address);
  await Promise.all(names.map((name) => peer.requestName(name)));
  parentPort.postMessage('arrived');
}
