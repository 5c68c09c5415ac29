/** Looks up names of other machines, two at a time: each holds a thread of libuv's pool until the name server answers. */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Node's pool has four threads, with which it also reads files. */
const MAX_RUNNING = 2;
const waiting: (() => void)[] = [];
let running = 0;

function begin(start: () => void): void {
  if (running < MAX_RUNNING) {
    running++;
    start();
  } else waiting.push(start);
}

function end(): void {
  const next = waiting.shift();
  if (next === undefined) running--;
  else next();
}

/** For the option `lookup` of a connection. `isWanted`: whether the connection, which had to wait, was not given up. */
export const lookUpWhile =
  (isWanted: () => boolean): LookupFunction =>
  (hostname, options, done) => {
    const start = () =>
      lookup(hostname, options, (error, address, family) => {
        end();
        done(error, address, family);
      });
    if (running < MAX_RUNNING) begin(start);
    else begin(() => (isWanted() ? start() : end()));
  };
