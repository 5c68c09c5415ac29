/** Ten thousand names on a bus, taken and given back by a thread of its own, so that what is timed beside it is not its work. */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { DbusPeer } from './peer.ts';

interface Job {
  readonly address: string;
  readonly names: readonly string[];
}

export interface Crowd {
  /** All names are taken. */
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

// The same file is the worker.
if (!isMainThread && parentPort !== null) {
  // What startCrowd handed over.
  const { address, names } = workerData as Job;
  const peer = await DbusPeer.open(address);
  await Promise.all(names.map((name) => peer.requestName(name)));
  parentPort.postMessage('arrived');
}
