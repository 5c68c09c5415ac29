/** The machine's end of a connection to a hub that it has dialled, on a raw socket: by docs/websocket.md, up to its greeting. */
import type net from 'node:net';
import { requestBytes } from '../helpers/clients/http.ts';
import { UPGRADE_HEADERS } from '../http/socket-attacks.ts';
import { frameBytes, OPCODES } from '../http/socket-frames.ts';
import { PlayedMachine } from '../hub/played-machine.ts';
import { type DialKey, send } from './target.ts';

/** The upgrade of a machine; `key`: empty for a stranger. */
export const dialUpgrade = ({ id, key }: DialKey, run: string): Buffer =>
  requestBytes(`/api/agent?id=${id}&run=${run}`, {
    headers: { ...UPGRADE_HEADERS, ...(key !== '' && { Authorization: `Bearer ${key}` }) },
  });

/** A message of a machine. */
export const message = (type: string, data: string | Buffer, id = ''): Buffer =>
  frameBytes({
    opcode: OPCODES.text,
    payload: Buffer.concat([
      Buffer.from(`{"type":"${type}"${id === '' ? '' : `,"id":${JSON.stringify(id)}`},"data":`),
      Buffer.from(data),
      Buffer.from('}'),
    ]),
  });

/** A frame of a message, of which more follow. */
export const part = (bytes: Buffer, isFirst = false): Buffer =>
  frameBytes({ opcode: isFirst ? OPCODES.text : OPCODES.continuation, payload: bytes, isPart: true });

/** Returns the greeting of a machine. */
export function greetingOf(run: string): string {
  const machine = new PlayedMachine();
  machine.run = run;
  return JSON.stringify(machine.connected);
}

/** Whether the upgrade was granted; false: refused, closed before, or too late. */
function granted(socket: net.Socket, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isGranted: boolean) => {
      socket.off('data', take).off('close', close);
      clearTimeout(timer);
      resolve(isGranted);
    };
    const take = (bytes: Buffer) => end(bytes.includes('HTTP/1.1 101'));
    const close = () => end(false);
    const timer = setTimeout(close, limitMs);
    if (socket.destroyed) close();
    else socket.once('data', take).once('close', close);
  });
}

/** Dials the hub on `socket`, which is connected to it, as this machine. True: it is in, and the hub shows it. */
export async function dialIn(
  socket: net.Socket,
  key: DialKey,
  run: string,
  limitMs: number,
): Promise<boolean> {
  socket.resume();
  const isGranted = granted(socket, limitMs);
  send(socket, dialUpgrade(key, run));
  if (!(await isGranted)) return false;
  send(socket, message('connected', greetingOf(run)));
  return true;
}
