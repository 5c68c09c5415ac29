/**
 * Raw clients in a separate thread, so that their times are right even while the service's thread is busy. All connect
 * first, then all send; each records when it has read the answer to its end. Times are on the monotonic clock of
 * process.hrtime, which all threads share.
 */
import net from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { PATIENCE_MS } from '../limits.ts';

export interface LastAnswer {
  readonly text: string;
  /** When the end of the connection, and thus of the answer, was read. */
  readonly endedAtNs: bigint;
}

export interface Answers {
  readonly answers: readonly LastAnswer[];
  /** Longest time in which the clients themselves could not read: times may be late by this much. */
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

// One thread for all jobs, one at a time: on a busy machine the start of a thread would delay the times it measures.
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
    const end = () => settle({ error: new Error('the clients ended without a result') });
    worker.on('message', settle).on('error', fail).on('exit', end);
    worker.postMessage(job);
  });
}

/** Sends each of `requests` on its own connection, all together; returns the bytes read until each was closed. */
export function askAll(port: number, requests: readonly string[]): Promise<Answers> {
  const answers = busy.then(() => run({ port, requests }));
  busy = answers.catch(() => undefined);
  return answers;
}

/** Sends `request`; returns the bytes read until the service closed the connection. */
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
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('no end of the answer')));
    socket.on('data', (part: string) => {
      text += part;
    });
    const end = () => resolve({ text, endedAtNs: process.hrtime.bigint() });
    socket.once('end', end);
    // A refused request may be cut while the rest of its body is still being written, after the answer.
    socket.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EPIPE' && text !== '' ? end() : reject(error),
    );
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

// This file is also the worker.
if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  port.on('message', (job: Job) => {
    const send = (outcome: Outcome) => port.postMessage(outcome);
    work(job).then(
      (answers) => send({ answers }),
      (error: unknown) => send({ error }),
    );
  });
}
