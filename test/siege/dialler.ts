/** The agent's end of a connection to a hub that it has dialled, on a raw socket: by docs/hub-protocol.md, up to the proofs. */
import type net from 'node:net';
import { newNonce, proofOf } from '#src/agent/protocol/proof.js';
import { requestBytes } from '../helpers/clients/http.ts';
import { UPGRADE_HEADERS } from '../http/socket-attacks.ts';
import { frameBytes, OPCODES } from '../http/socket-frames.ts';
import { type DialKey, send } from './target.ts';

export const DIAL_UPGRADE = requestBytes('/api/agent', { headers: UPGRADE_HEADERS });

/** Far above what a hub sends before it has proved itself. */
const MAX_BYTES = 8192;

/** A message on the end of a topic. */
export const message = (topic: string, payload: string | Buffer): Buffer =>
  frameBytes({
    opcode: OPCODES.text,
    payload: Buffer.concat([Buffer.from(`${topic}\n`), Buffer.from(payload)]),
  });

/** A binary frame: a part of a message, of which more follow. */
export const part = (bytes: Buffer): Buffer =>
  frameBytes({ opcode: OPCODES.binary, payload: Buffer.concat([Buffer.of(1), bytes]) });

/** Resolves with what `pattern` finds in the bytes that arrive; undefined: the connection was closed before, or too late. */
function found(socket: net.Socket, pattern: RegExp, limitMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const end = (result: string | undefined) => {
      socket.off('data', take).off('close', close);
      clearTimeout(timer);
      resolve(result);
    };
    const take = (bytes: Buffer) => {
      text = `${text}${bytes.toString('latin1')}`.slice(0, MAX_BYTES);
      const match = pattern.exec(text);
      if (match !== null) end(match[1] ?? match[0]);
    };
    const close = () => end(undefined);
    const timer = setTimeout(close, limitMs);
    if (socket.destroyed) close();
    else socket.on('data', take).on('close', close);
  });
}

/**
 * Dials the hub on `socket`, which is connected to it, and proves to be the agent `id` of this key. True: it has proved
 * itself, and the hub shows it as online.
 */
export async function dialIn(
  socket: net.Socket,
  { id, key }: DialKey,
  run: string,
  limitMs: number,
): Promise<boolean> {
  socket.resume();
  const challenge = found(socket, /"nonce":"([A-Za-z0-9_-]{43})"/, limitMs);
  send(socket, DIAL_UPGRADE);
  const hubNonce = await challenge;
  if (hubNonce === undefined) return false;
  const agentNonce = newNonce();
  const proof = proofOf(key, 'agent', { id, run, hubNonce, agentNonce });
  const proven = found(socket, /proof\n\{[^}]*\}/, limitMs);
  send(socket, message('proof', JSON.stringify({ id, run, nonce: agentNonce, proof })));
  if ((await proven) === undefined) return false;
  send(socket, message('status', JSON.stringify({ state: 'online', run, name: 'hostile', labels: {} })));
  return true;
}
