/** Reads the answers of an agent to commands and questions, and makes those for the clients of the hub. */
import { type ErrorCode, ServiceError, STATUS_BY_CODE } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { readJsonObject } from './json.ts';
import { isReading, type Reading } from './sample-lines.ts';

/** Far above a short answer's beginning, in which the id is. */
const ID_WITHIN_BYTES = 512;
const ID = /"id":"([A-Za-z0-9_-]{1,128})"/;

/** Finds the id in the text of a feedback without parsing it: most feedback is for other hubs. */
export const idIn = (payload: Buffer): string | undefined =>
  ID.exec(payload.toString('latin1', 0, ID_WITHIN_BYTES))?.[1];

export interface Feedback {
  readonly id: unknown;
  readonly stage: unknown;
  readonly message: unknown;
  readonly code: unknown;
  readonly details: unknown;
  readonly result: unknown;
  readonly delivered: unknown;
  /** The version of the result. */
  readonly etag: unknown;
  /** A reading of the agent's clock. */
  readonly reading: Reading | undefined;
}

/** undefined: it is not an object that may be passed on. */
export function readFeedback(payload: Buffer): Feedback | undefined {
  const fields = readJsonObject(payload);
  if (fields === undefined) return undefined;
  const { id, stage, message, code, details, result, delivered, etag } = fields;
  const reading = isReading(fields) ? (fields as unknown as Reading) : undefined; // As was just checked.
  return { id, stage, message, code, details, result, delivered, etag, reading };
}

/** As HostAnswer of the hub. */
export interface CallAnswer {
  readonly type: string;
  readonly bytes: Buffer;
  readonly delivered?: 'true' | 'false' | 'unknown';
  readonly etag?: string;
  readonly isFollowed?: true;
}

const JSON_TYPE = 'application/json';
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
const TAG = /^"[\x21\x23-\x7e]{1,128}"$/;

/** Returns the answer for a client; undefined: the feedback does not answer its request. */
export function answerOf({ result, delivered, etag }: Feedback, isPicture: boolean): CallAnswer | undefined {
  if (isPicture) return isObject(result) ? pictureOf(result) : undefined;
  if (result !== undefined && result !== null && !isObject(result)) return undefined;
  const bytes = Buffer.from(JSON.stringify(result ?? {}));
  const isKnown = delivered === 'true' || delivered === 'false' || delivered === 'unknown';
  const isTag = typeof etag === 'string' && TAG.test(etag);
  return { type: JSON_TYPE, bytes, ...(isKnown && { delivered }), ...(isTag && { etag }) };
}

function pictureOf({ type, base64 }: Readonly<Record<string, unknown>>): CallAnswer | undefined {
  if (typeof type !== 'string' || !PICTURE.test(type) || typeof base64 !== 'string') return undefined;
  return { type, bytes: Buffer.from(base64, 'base64') };
}

const isCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(STATUS_BY_CODE, code);

const MAX_MESSAGE_LENGTH = 500;

/** The agent's own error. */
export function errorOf({ code, message, details }: Feedback): ServiceError {
  const text = textOf(message, 'The machine reported no reason.');
  return new ServiceError(
    isCode(code) ? code : 'internal_error',
    text,
    isObject(details) ? details : undefined,
  );
}

/** The sentence of a feedback. */
export const textOf = (message: unknown, otherwise = ''): string =>
  typeof message === 'string' ? message.slice(0, MAX_MESSAGE_LENGTH) : otherwise;

/** It was certainly not done. */
export const notDone = (reason: string): ServiceError =>
  new ServiceError('host_unreachable', 'The command was not carried out.', { reason });

/** It was sent, and its outcome is unknown. */
export const unknownOutcome = (reason: string): ServiceError =>
  new ServiceError('outcome_unknown', 'The command was sent; whether it was carried out is unknown.', {
    reason,
  });
