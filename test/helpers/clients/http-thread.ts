/**
 * Raw clients in a thread of their own, so that what a client sees is timed even while the service's thread is busy.
 * All connect first, then all send; each notes when it has read the answer to its end. Times are of the monotonic
 * clock that process.hrtime reads, which all threads share.
 */
import net from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

export interface LastAnswer {
  readonly text: string;
  /** When the end of the connection was read, and with it all of the answer. */
  readonly endedAtNs: bigint;
}

export interface Answers {
  readonly answers: readonly LastAnswer[];
  /** How long the clients themselves were kept from reading, at worst: times are late by as much. */
  readonly stalledMs: number;
}

interface Job {
  readonly port: number;
  readonly requests: readonly string[];
}

interface Outcome {
  readonly answers?: Answers;
  readonly error?: unknown;
}

const LIMIT_MS = 20_000;

// One for all: starting a thread costs a busy machine so much that what it sees comes late. It gets one job at a time.
let thread: Worker | undefined;
let busy: Promise<unknown> = Promise.resolve();

function run(job: Job): Promise<Answers> {
  thread ??= new Worker(new URL(import.meta.url));
  const worker = thread;
  worker.ref();
  return new Promise<Answers>((resolve, reject) => {
    const settle = ({ answers, error }: Outcome) => {
      worker.off('message', settle).off('error', fail).off('exit', end);
      worker.unref();
      if (answers === undefined) reject(error);
      else resolve(answers);
    };
    const fail = (error: Error) => settle({ error });
    const end = () => settle({ error: new Error('the clients ended without a word') });
    worker.on('message', settle).on('error', fail).on('exit', end);
    worker.postMessage(job);
  });
}

/** Sends each of `requests` on a connection of its own, all at once; what was read until each was closed. */
export function askAll(port: number, requests: readonly string[]): Promise<Answers> {
  const answers = busy.then(() => run({ port, requests }));
  busy = answers.catch(() => undefined);
  return answers;
}

/** Sends `request`; what was read until the service closed the connection. */
export async function ask(port: number, request: string): Promise<LastAnswer> {
  const [answer] = (await askAll(port, [request])).answers;
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

function connect(port: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

function readToEnd(socket: net.Socket): Promise<LastAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('no end of the answer')));
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.once('end', () => resolve({ text, endedAtNs: process.hrtime.bigint() }));
    socket.once('error', reject);
  });
}

const LOOK_MS = 5;

async function work({ port, requests }: Job): Promise<Answers> {
  const sockets = await Promise.all(requests.map(() => connect(port)));
  let stalledMs = 0;
  let lookedAtMs = performance.now();
  const look = () => {
    const now = performance.now();
    stalledMs = Math.max(stalledMs, now - lookedAtMs - LOOK_MS);
    lookedAtMs = now;
  };
  const timer = setInterval(look, LOOK_MS);
  const answers = sockets.map(readToEnd);
  sockets.forEach((socket, i) => void socket.write(requests[i] ?? ''));
  const read = await Promise.all(answers);
  look();
  clearInterval(timer);
  return { answers: read, stalledMs };
}

// The same file is the worker.
if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  port.on('message', (job: Job) => {
    const tell = (outcome: Outcome) => port.postMessage(outcome);
    work(job).then(
      (answers) => tell({ answers }),
      (error: unknown) => tell({ error }),
    );
  });
}
