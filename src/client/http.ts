/** Addresses, the key's header, bodies, and errors from refused requests, for all requests of this module. */
import { membersOf, parseJson } from '../json.ts';
import { ClientError, tooLarge } from './errors.ts';
import { PIECE_BYTES } from './limits.ts';

export interface ServiceAccess {
  /** The address of the service: `http://pc:9990`. */
  readonly url: string;
  readonly key?: string | undefined;
  /** On Node, with an https address: the pin of the service's key (`sha256/…`). No other server is sent anything. */
  readonly pin?: string | undefined;
}

/** `path` below the service's `url`, which may have a path itself (a reverse proxy's). Throws a TypeError if invalid. */
export function addressOf(url: string, path: string, query?: URLSearchParams): URL {
  const base = new URL(url);
  if (base.protocol !== 'http:' && base.protocol !== 'https:')
    throw new TypeError(`${url} is not the address of a service: it must start with http:// or https://`);
  const folder = `${base.origin}${base.pathname.replace(/(?<!\/)\/*$/, '/')}`;
  const address = new URL(path.replace(/^\/*/, './'), folder);
  if (query !== undefined) address.search = query.toString();
  return address;
}

type Parameter = string | number | undefined | readonly string[];

/** The query of these parameters: a list is several of one name, and undefined is none. */
export function queryOf(parameters: Readonly<Record<string, Parameter>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const each of [value ?? []].flat()) query.append(name, `${each}`);
  return query;
}

export function keyHeader(key: string | undefined): Readonly<Record<string, string>> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return ms >= 0 ? ms : undefined;
}

/** The service's errors have some hundred bytes; a longer body is as one that cannot be read. */
const MAX_BYTES = 64 * 1024;

const CODE_BY_STATUS: Readonly<Record<number, string>> = { 401: 'unauthorized', 403: 'forbidden' };
/** By status, or by code where a status has several. */
const SENTENCES: Readonly<Record<string, string>> = {
  401: 'the key is missing or wrong',
  403: 'the service does not allow requests from this address',
  feature_disabled: "it is disabled in the service's configuration",
  scope_required: 'the key lacks a scope',
  command_not_allowed: 'hub.commands does not allow this client to do this',
};

/** Rejects with `too_large` beyond `max` bytes, and cancels the rest. */
export async function readText({ body }: Response, max: number): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let kept = 0; reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) break;
    kept += value.length + PIECE_BYTES;
    if (kept > max) {
      // A server need not notice, so nothing waits for it.
      reader.cancel().catch(() => undefined);
      throw tooLarge('an answer');
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

/** Turns an unsuccessful answer into an error. Never throws; a body that cannot be read is ignored. */
export async function refusalOf(response: Response): Promise<ClientError> {
  const { status, headers } = response;
  const body = membersOf(parseJson(await readText(response, MAX_BYTES).catch(() => '')));
  const code = headers.get('x-error-code') ?? body['code'] ?? CODE_BY_STATUS[status];
  const scope = headers.get('x-required-scope');
  const sentence = body['error'] ?? SENTENCES[String(code)] ?? SENTENCES[status];
  return new ClientError(
    typeof code === 'string' ? code : 'refused',
    typeof sentence === 'string' ? sentence : `the service answered ${status}`,
    {
      status,
      details: body['details'] ?? (scope ? { scope } : undefined),
      retryAfterMs: retryAfterMs(headers),
    },
  );
}
