/**
 * How long the media status takes, requested by a separate thread, so that the test's own work is not timed. The
 * health check is requested in turns with it: where that is slow too, the machine is busy.
 */
import http from 'node:http';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Test } from 'tap';
import { percentile } from '../helpers/service/media.ts';

interface Times {
  readonly media: readonly number[];
  readonly health: readonly number[];
}

/** Beyond three times what a health check takes, which touches nothing but the socket. */
const MAX_STATUS_MS = 20;
const FEWEST = 100;

async function timeWhile(port: number, act: () => Promise<unknown>): Promise<Times> {
  const worker = new Worker(new URL(import.meta.url), { workerData: port });
  const done = new Promise<Times>((resolve, reject) => {
    worker.on('message', (message: Times | 'asking') => message !== 'asking' && resolve(message));
    worker.once('error', reject);
  });
  await new Promise<void>((resolve) => worker.once('message', () => resolve()));
  await act();
  worker.postMessage('stop');
  return await done;
}

/** Checks that the status answers from memory during `act`. */
export async function checkStatusTimes(
  t: Test,
  what: string,
  port: number,
  act: () => Promise<unknown>,
): Promise<void> {
  const { media, health } = await timeWhile(port, act);
  const [p50, p99, calm] = [percentile(media, 0.5), percentile(media, 0.99), percentile(health, 0.99)];
  const text = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms of ${media.length} (health check ${calm.toFixed(2)} ms)`;
  t.comment(`figure: media status ${what}: ${text}`);
  t.ok(p99 <= MAX_STATUS_MS + 3 * calm && media.length >= FEWEST, text);
}

async function ask(agent: http.Agent, port: number, path: string): Promise<number> {
  const begun = performance.now();
  await new Promise<void>((resolve, reject) => {
    const request = http.get({ agent, port, host: '127.0.0.1', path }, (response) => {
      response.resume();
      response.once('end', resolve);
    });
    request.once('error', reject);
  });
  return performance.now() - begun;
}

// The same file is the worker.
if (!isMainThread && parentPort !== null) {
  const port = Number(workerData);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const media: number[] = [];
  const health: number[] = [];
  let isStopping = false;
  parentPort.once('message', () => {
    isStopping = true;
  });
  for (let i = 0; i < 20; i++) await ask(agent, port, '/api/status');
  parentPort.postMessage('asking');
  while (!isStopping || media.length < FEWEST) {
    health.push(await ask(agent, port, '/api/status'));
    media.push(await ask(agent, port, '/api/media/status'));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  agent.destroy();
  parentPort.postMessage({ media, health });
}
