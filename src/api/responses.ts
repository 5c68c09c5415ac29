/** The answers of an operation, by status. */
import { type ErrorCode, STATUS_BY_CODE } from '../errors.ts';
import { SCOPES } from '../scopes.ts';
import { refusalCode } from '../wire/errors.ts';
import type { DocumentedOperation } from './operations.ts';
import type { Json, SchemaWriter } from './schemas.ts';

const text = (description: string): Json => ({ description, schema: { type: 'string' } });
const constant = (value: string): Json => ({ schema: { const: value } });

/** Returns the headers of answers, by name. */
export function headerComponents({ write }: SchemaWriter): Json {
  return {
    'X-Ignored-Fields': text('The unknown names in `fields`, at most eight of them.'),
    'X-Media-Delivered': {
      description:
        'Whether a player accepted the command; unknown: a media key was sent, or the player did not answer.',
      required: true,
      schema: { type: 'string', enum: ['true', 'false', 'unknown'] },
    },
    'X-Error-Code': {
      description: 'Why the web guard, a feature flag or a scope refused; absent if a list of addresses did.',
      schema: write(refusalCode),
    },
    'X-Required-Scope': {
      description: 'The scope that the key lacks, with `scope_required`.',
      schema: { type: 'string', enum: SCOPES },
    },
    ETag: {
      ...text('Changes with the answer; a matching If-None-Match is answered with 304.'),
      required: true,
    },
    'WWW-Authenticate': { ...constant('Bearer'), required: true },
    Upgrade: { ...constant('websocket'), required: true },
    'Retry-After': { ...text('Seconds.'), required: true },
    'Cache-Control': { ...constant('no-store'), required: true },
    'X-Content-Type-Options': { ...constant('nosniff'), required: true },
    'Cross-Origin-Resource-Policy': { ...constant('same-origin'), required: true },
    'X-Frame-Options': { ...constant('DENY'), required: true },
  };
}

const headersNamed = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const JSON_TYPE = 'application/json';
const ALL_HEADERS = ['X-Content-Type-Options', 'Cross-Origin-Resource-Policy', 'X-Frame-Options'];
const JSON_HEADERS = ['Cache-Control', ...ALL_HEADERS];

/** The codes that any operation may return. */
const ALWAYS: readonly ErrorCode[] = [
  'bad_request',
  'too_many_requests',
  'internal_error',
  'too_many_connections',
  'shutting_down',
];
const WITH_BODY: readonly ErrorCode[] = ['payload_too_large'];
const WITH_JSON: readonly ErrorCode[] = ['invalid_json', 'invalid_body', 'unsupported_media_type'];

/** Returns every code that an operation may return. */
export function errorsOf({ body, errors }: DocumentedOperation): readonly ErrorCode[] {
  const ofBody = [...(body === undefined ? [] : WITH_BODY), ...(body === 'json' ? WITH_JSON : [])];
  const all = [...ALWAYS, ...ofBody, ...errors];
  // In the order of the list of all codes.
  return (Object.keys(STATUS_BY_CODE) as ErrorCode[]).filter((code) => all.includes(code));
}

function success(operation: DocumentedOperation, { write }: SchemaWriter): Json {
  const { payloads, imageTypes, textTypes, isStream, headers = [] } = operation;
  const written = payloads.map(write);
  const [only] = written;
  const payload = written.length > 1 ? { anyOf: written } : (only ?? { type: 'object' });
  if (isStream)
    return {
      description: 'The stream.',
      headers: headersNamed([...headers, ...ALL_HEADERS]),
      content: { 'text/event-stream': { schema: { type: 'string' }, 'x-message': payload } },
    };
  const contentOf = (): Json => {
    if (imageTypes) return Object.fromEntries(imageTypes.map((type) => [type, {}]));
    if (textTypes) return Object.fromEntries(textTypes.map((type) => [type, { schema: { type: 'string' } }]));
    return { [JSON_TYPE]: { schema: payload } };
  };
  // A document may be cached.
  const common = headers.includes('ETag') ? ALL_HEADERS : JSON_HEADERS;
  return {
    description: 'Done.',
    headers: headersNamed([...headers, ...common]),
    content: contentOf(),
  };
}

/** Headers that only errors of one status have. */
const OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  426: ['Upgrade'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

function failure(status: number, codes: readonly ErrorCode[], error: Json): Json {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: headersNamed([...(OF_STATUS[status] ?? []), ...JSON_HEADERS]),
    content: {
      [JSON_TYPE]: { schema: { allOf: [error, { properties: { code: { enum: codes } } }] } },
    },
  };
}

const SWITCHED: Json = { description: 'The connection speaks WebSocket from now on.' };
const UNCHANGED: Json = {
  description: 'The answer is still the same.',
  headers: headersNamed(['ETag', ...ALL_HEADERS]),
};
const answer = (name: string): Json => ({ $ref: `#/components/responses/${name}` });

/** Returns the answers by status. `error`: the schema of every error's body. */
export function responsesOf(operation: DocumentedOperation, writer: SchemaWriter, error: Json): Json {
  const codes = errorsOf(operation);
  const failures = [...new Set(codes.map((code) => STATUS_BY_CODE[code]))].map((status): [string, Json] => {
    const ofStatus = codes.filter((code) => STATUS_BY_CODE[code] === status);
    return [String(status), failure(status, ofStatus, error)];
  });
  // Numeric keys are in ascending order.
  return {
    ...(operation.isUpgrade ? { 101: SWITCHED } : { 200: success(operation, writer) }),
    ...(operation.headers?.includes('ETag') ? { 304: UNCHANGED } : {}),
    ...(operation.isPublic ? {} : { 401: answer('Unauthorized') }),
    403: answer('Forbidden'),
    ...Object.fromEntries(failures),
  };
}

/** The answers without a body. */
export const BARE_RESPONSES: Json = {
  Unauthorized: {
    description: 'The key is missing or wrong.',
    headers: headersNamed(['WWW-Authenticate', ...ALL_HEADERS]),
  },
  Forbidden: {
    description:
      'The address is blocked or not allowed, the web guard refused, the feature is off, or the key lacks the scope.',
    headers: headersNamed(['X-Error-Code', 'X-Required-Scope', ...ALL_HEADERS]),
  },
};
