/**
 * Asks what hangs, and prints whether libuv's pool still works. Started by test/native/system/pool.test.ts with hung_calls.c
 * preloaded and one thread in the pool.
 */
import '../../helpers/service/dead-buses.ts';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { openNativeHost } from '#src/host/native.js';

const host = openNativeHost();
const server = net.createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const address = server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;
const client = net.connect(port, '127.0.0.1');
await new Promise((resolve) => client.once('connect', resolve));
const system = host.readSystem();
// It is never answered.
const never = host.readConnections(port);
const answered = await Promise.race([never, readFile(import.meta.filename, 'utf8').then(() => 'a file')]);
const { hostname, network } = await system;
console.log(JSON.stringify({ answered, hostname, addresses: network?.ipv4 ?? network?.ipv6 ?? null }));
process.exit(0);
