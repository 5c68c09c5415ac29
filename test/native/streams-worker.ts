/** A worker with a stream that the addon owns; streams.test.ts terminates it. */
import '../helpers/service/dead-buses.ts';
import net from 'node:net';
import { parentPort } from 'node:worker_threads';
import { openNativeHost } from '#src/host/native.js';

const writer = openNativeHost().streams?.start({}, () => undefined);
const server = net.createServer((socket) => {
  // Undocumented, and there since Node 0.x.
  const { fd } = (socket as unknown as { readonly _handle: { readonly fd: number } })._handle;
  const [head, event] = [Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), Buffer.from('data: {}\n\n')];
  writer?.adopt(fd, 0, 0, true, head, event);
  socket.destroy();
  parentPort?.postMessage('adopted');
  let number = 0;
  setInterval(() => writer?.publish(0, ++number, event), 1);
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as net.AddressInfo).port));
