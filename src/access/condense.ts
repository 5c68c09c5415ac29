/** Condenses a request to the minimum that yields the same decisions under every policy, to judge it again. */
import { chainOf } from './client.ts';
import { ACCESS_HEADERS, type AccessRequest, FORWARDING_HEADERS } from './request.ts';

/** Headers whose text is kept; of the other forwarding headers only their presence is. */
const READ_FORWARDING = new Set(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']);
/** Longer than any key, origin or host name that can be configured, so a value that is cut is never accepted. */
const MAX_VALUE = 1100;
const MAX_FETCH_VALUE = 32;
/** Longer than any address with a port. */
const MAX_ADDRESS = 64;

/** Returns a copy: V8 keeps all of a text while a part that was cut out of it is kept. */
function copy(part: string): string {
  return Buffer.from(part).toString();
}

function condenseValues(name: string, values: readonly string[]): readonly string[] {
  if (name === 'x-forwarded-for')
    return [
      copy(
        chainOf(values)
          .map((element) => element.trim().slice(0, MAX_ADDRESS))
          .join(','),
      ),
    ];
  if (FORWARDING_HEADERS.includes(name) && !READ_FORWARDING.has(name)) return [''];
  // Any one of these decides, and none of them is long.
  if (name.startsWith('sec-fetch-'))
    return values.map((value) => copy(value.trim().slice(0, MAX_FETCH_VALUE)));
  // A third value changes nothing: two are already invalid. The last one is that of the proxy.
  const few = values.length > 2 ? [...values.slice(0, 1), ...values.slice(-1)] : values;
  return few.map((value) =>
    copy(name.startsWith('x-') ? value.slice(-MAX_VALUE) : value.slice(0, MAX_VALUE)),
  );
}

/** Returns a request with the same decisions in about two kilobytes at most, whatever the client sent. */
export function condense(request: AccessRequest): AccessRequest {
  const headers = new Map<string, readonly string[]>();
  for (const name of ACCESS_HEADERS) {
    const values = request.headers.get(name);
    if (values !== undefined && values.length > 0) headers.set(name, condenseValues(name, values));
  }
  const queryKeys = request.queryKeys.slice(0, 2).map((key) => copy(key.slice(0, MAX_VALUE)));
  return { ...request, headers, queryKeys };
}
