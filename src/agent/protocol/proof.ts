/**
 * How an agent and the hub that it has dialled prove to each other that they have the key of this agent, which crosses no
 * network (docs/hub-protocol.md, Dial-in).
 */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseObject } from '../../json.ts';

/** Both sides prove something else, so that no proof can be sent back to the one who made it. */
export type Side = 'agent' | 'hub';

/** The terms of one proof, which is of no use on another connection or for another agent. */
export interface Terms {
  /** The id of the agent, and then its present run. */
  readonly id: string;
  readonly run: string;
  /** Fresh random texts of both sides. */
  readonly hubNonce: string;
  readonly agentNonce: string;
}

/** An agent's first words, beside the proof; the hub has sent its nonce before. */
export interface Claim {
  readonly id: string;
  readonly run: string;
  readonly nonce: string;
  readonly proof: string;
}

const LABEL = 'hostwire dial-in 1';
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const RUN = /^[\x21-\x7e]{1,64}$/;
/** 32 bytes as base64url. */
const DIGEST = /^[A-Za-z0-9_-]{43}$/;

export const newNonce = (): string => randomBytes(32).toString('base64url');

const isDigest = (value: unknown): value is string => typeof value === 'string' && DIGEST.test(value);

export const proofOf = (key: string, side: Side, { id, run, hubNonce, agentNonce }: Terms): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([LABEL, side, id, run, hubNonce, agentNonce]))
    .digest('base64url');

/** In constant time. `proof`: 43 characters, as the functions below return it. */
export const isProof = (proof: string, key: string, side: Side, terms: Terms): boolean =>
  timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(key, side, terms)));

/** The nonce in the first message of a hub; undefined: it is none. */
export function readNonce(payload: Buffer): string | undefined {
  const nonce = parseObject(payload)?.['nonce'];
  return isDigest(nonce) ? nonce : undefined;
}

/** The proof in the second message of a hub; undefined: it is none. */
export function readProof(payload: Buffer): string | undefined {
  const proof = parseObject(payload)?.['proof'];
  return isDigest(proof) ? proof : undefined;
}

/** undefined: the message is none. */
export function readClaim(payload: Buffer): Claim | undefined {
  const { id, run, nonce, proof } = parseObject(payload) ?? {};
  if (typeof id !== 'string' || !ID.test(id) || typeof run !== 'string' || !RUN.test(run)) return undefined;
  return isDigest(nonce) && isDigest(proof) ? { id, run, nonce, proof } : undefined;
}
