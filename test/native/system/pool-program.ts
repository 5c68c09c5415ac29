/**
 * Asks what hangs, and prints whether libuv's pool still works. Started by test/native/system/pool.test.ts with hung_calls.c
 * preloaded and one thread in the pool.
 */
import '../../helpers/service/dead-buses.ts';
import { readFile } from 'node:fs/promises';
import { openNativeHost } from '#src/host/native.js';

const host = openNativeHost();
// It waits for addresses that are never answered.
const system = host.readSystem();
const first = await Promise.race([
  system.then(() => 'the system'),
  readFile(import.meta.filename, 'utf8').then(() => 'a file'),
]);
const { hostname, network } = await system;
console.log(JSON.stringify({ first, hostname, addresses: network?.ipv4 ?? network?.ipv6 ?? null }));
process.exit(0);
