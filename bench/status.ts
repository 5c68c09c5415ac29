/** Measures how long GET /api/status takes while the server is busy. */
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Not a divisor of a second, so that requests fall on all moments of the server's tick. */
const INTERVAL_MS = 5.3;
const REQUEST = 'GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n';

/**
 * Asks on one connection at a fixed pace for `seconds`; returns the 99th percentile in milliseconds. A request that had
 * to wait for the answer to the one before counts from when it was due.
 */
export async function statusP99Ms(port: number, seconds: number): Promise<number> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
  const parts = socket.setEncoding('utf8')[Symbol.asyncIterator]();
  const delays: number[] = [];
  const until = performance.now() + seconds * 1000;
  try {
    for (let due = performance.now(); due < until; due += INTERVAL_MS) {
      const early = due - performance.now();
      if (early > 0) await sleep(early);
      const began = early > 0 ? performance.now() : due;
      socket.write(REQUEST);
      for (let text = ''; !text.endsWith('}'); ) {
        const { value, done } = await parts.next();
        if (done === true) throw new Error('the server closed the connection of /api/status');
        text += String(value);
      }
      delays.push(performance.now() - began);
    }
  } finally {
    socket.destroy();
  }
  return delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? Number.NaN;
}
