/** The worker of the store: the same file as the store itself in the bundle, run on a thread of its own. */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { Answer, Numbered, Reply, WorkerOptions } from './messages.ts';
import { Session } from './session.ts';

/** The file that the worker runs: this module, or the bundle that contains it. */
export const WORKER_URL = new URL(import.meta.url);

function isOptions(data: unknown): data is WorkerOptions {
  return typeof data === 'object' && data !== null && 'hostwireStore' in data;
}

function answer(session: Session, message: Numbered): Answer {
  switch (message.kind) {
    case 'write':
      return session.write(message.batch, false);
    case 'close':
      return session.write(message.batch, true);
    case 'read':
      return session.read(message.request);
    case 'processes':
      return session.processesAt(message.at);
  }
}

if (!isMainThread && parentPort !== null && isOptions(workerData)) {
  const port = parentPort;
  const session = new Session(workerData.hostwireStore);
  port.on('message', (message: Numbered) => {
    const reply: Reply = { ...answer(session, message), id: message.id, notices: session.takeNotices() };
    const columns = reply.kind === 'read' && reply.answer !== 'too_many' ? reply.answer.columns : [];
    const buffers = columns.flatMap(({ mean, min, max }) => [mean, min, max].map(({ buffer }) => buffer));
    // Each column was made with its own buffer.
    port.postMessage(reply, buffers as ArrayBuffer[]);
    if (message.kind !== 'close') return;
    session.close();
    port.close();
  });
}
