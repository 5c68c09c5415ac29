/** Answers: JSON, errors, refusals without a body. */

import type { ServiceError } from '../errors.ts';
import { isScope } from '../scopes.ts';
import type { Answer } from './head.ts';

export type Headers = readonly (readonly [name: string, value: string])[];

const JSON_HEADERS: Headers = [
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Cache-Control', 'no-store'],
];

/** Not from node:http, which takes half a MiB when it is loaded. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** "404 Not Found". */
export function statusLine(status: number): string {
  return `${status} ${REASONS[status] ?? 'Unknown'}`;
}

export function jsonAnswer(value: unknown, headers: Headers = []): Answer {
  return jsonTextAnswer(JSON.stringify(value), headers);
}

export function jsonTextAnswer(body: string | Buffer, headers: Headers = []): Answer {
  return { status: statusLine(200), headers: [...JSON_HEADERS, ...headers], body };
}

/** Requests are answered sooner than a stream ends. */
const RETRY_AFTER_SECONDS: Readonly<Record<number, string>> = { 429: '1', 503: '5' };

/**
 * The name of the scope that is missing, readable for pages of other origins where the answer is. A hub passes on the errors
 * of machines, whose text must not become a header.
 */
function scopeHeaders({ code, details }: ServiceError, headers: Headers): Headers {
  const scope = details?.['scope'];
  if (code !== 'scope_required' || typeof scope !== 'string' || !isScope(scope)) return [];
  const isReadable = headers.some(([name]) => name === 'Access-Control-Allow-Origin');
  return [
    ['X-Required-Scope', scope],
    ...(isReadable ? ([['Access-Control-Expose-Headers', 'X-Required-Scope']] as const) : []),
  ];
}

/**
 * `{"error", "code", "details"?}` with the status of the code. A 403 has no body: its code is in `X-Error-Code`, and the
 * scope that it needs in `X-Required-Scope`.
 */
export function errorAnswer(error: ServiceError, headers: Headers = []): Answer {
  if (error.status === 403)
    return bareAnswer(403, [['X-Error-Code', error.code], ...scopeHeaders(error, headers), ...headers]);
  const body = {
    error: error.message,
    code: error.code,
    ...(error.details === undefined ? {} : { details: error.details }),
  };
  const retryAfter = RETRY_AFTER_SECONDS[error.status];
  const extra: Headers = retryAfter === undefined ? [] : [['Retry-After', retryAfter]];
  return {
    status: statusLine(error.status),
    headers: [...JSON_HEADERS, ...extra, ...headers],
    body: JSON.stringify(body),
    // Without room for more, the connection must not be kept either.
    isLast: error.status === 503,
  };
}

/** 401 and 403 carry no body. */
export function bareAnswer(status: 401 | 403, headers: Headers = []): Answer {
  const challenge: Headers = status === 401 ? [['WWW-Authenticate', 'Bearer']] : [];
  return { status: statusLine(status), headers: [...challenge, ...headers], body: '' };
}

/** 204: neither body nor Content-Length. */
export function emptyAnswer(headers: Headers): Answer {
  return { status: statusLine(204), headers, body: undefined };
}
