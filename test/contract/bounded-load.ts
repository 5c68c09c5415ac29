/** A bounded load on this machine: processor, disk and loopback. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';

/** Runs in a separate process: one core busy a third, two thirds and all of the time in turn, changing each second. */
function keepBusy(forMs: number): void {
  const begun = Date.now();
  const turn = () => {
    const elapsed = Date.now() - begun;
    if (elapsed >= forMs) return;
    const busyMs = 10 + 10 * (Math.floor(elapsed / 1000) % 3);
    const until = Date.now() + busyMs;
    while (Date.now() < until);
    setTimeout(turn, 30 - busyMs);
  };
  turn();
}

/**
 * Starts the load: one core in changing shares, half a megabyte per second written and synced, 4 MB/s over loopback.
 * The process that keeps the core busy exits on its own after `forMs`. Returns a function that stops everything.
 */
export async function startLoad(folder: string, forMs: number): Promise<() => Promise<void>> {
  const busy = spawn(process.execPath, ['-e', `(${keepBusy})(${forMs})`]);
  const file = openSync(path.join(folder, 'written'), 'w');
  const block = Buffer.alloc(64 * 1024, 1);
  const server = net
    .createServer((socket) => socket.on('error', () => undefined).resume())
    .listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo; // It listens on TCP.
  const socket = net.connect(port, '127.0.0.1');
  const traffic = setInterval(() => socket.write(block), 16);
  const writes = setInterval(() => {
    writeSync(file, block);
    fsyncSync(file);
  }, 130);
  return async () => {
    clearInterval(traffic);
    clearInterval(writes);
    socket.destroy();
    server.close();
    closeSync(file);
    busy.kill();
    if (busy.exitCode === null && busy.signalCode === null) await once(busy, 'exit');
  };
}
