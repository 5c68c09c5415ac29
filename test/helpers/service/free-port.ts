import net from 'node:net';

/** Listens, and resolves to whether it could. */
const listens = async (server: net.Server, where: net.ListenOptions): Promise<boolean> =>
  await new Promise((resolve) =>
    server.once('error', () => resolve(false)).listen(where, () => resolve(true)),
  );

/**
 * A free port of 127.0.0.1 that no connection gets as its own: one of the kernel's range may be taken by a client while
 * the server that a test starts again is away. No other test gets it until this process ends: an abstract socket of its
 * number holds it.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const claim = net.createServer().unref();
    if (!(await listens(claim, { path: `\0hostwire-test-port-${port}` }))) continue;
    const server = net.createServer();
    const isFree = await listens(server, { port, host: '127.0.0.1' });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
