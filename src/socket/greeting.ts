/** Reads the first message of a machine: who it is, and what this side may do there. */
import { PLACES } from '../fairness/limits.ts';
import { type JsonObject, membersOf } from '../json.ts';
import { SCOPES, type Scope } from '../scopes.ts';
import { PROTOCOL } from '../wire/socket.ts';

export interface Greeting {
  /** Another one after each start of its service. */
  readonly run: string;
  /** Milliseconds of its clock. */
  readonly clock: number;
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string | undefined;
  readonly os: string | undefined;
  readonly model: string | undefined;
  readonly addresses: readonly string[];
  /** The scopes of this side there; undefined: all. */
  readonly scopes: readonly Scope[] | undefined;
  /** This side has a key there. */
  readonly isKeyed: boolean;
  /** This side may name its own clients. */
  readonly mayNameClients: boolean;
}

const RUN = /^[\x21-\x7e]{1,64}$/;
const LABEL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NAME = /^[^\p{C}]{1,253}$/u;
const LABEL = /^[^\p{C}]{1,64}$/u;

/** Returns a sentence about what the data of `connected` are not. */
export function readGreeting(data: JsonObject): Greeting | string {
  const { protocol, run, clock, key, scopes: given } = data;
  if (protocol !== PROTOCOL)
    return `it speaks version ${JSON.stringify(protocol)?.slice(0, 16)} of the protocol, and this hub version ${PROTOCOL}; upgrade the older one`;
  if (typeof run !== 'string' || !RUN.test(run) || typeof clock !== 'number')
    return 'its greeting is malformed';
  if (data['machine'] === undefined) return 'the server at this URL is a hub, not the service of a machine';
  const { name, labels, version, os, model, addresses } = membersOf(data['machine']);
  const scopes = Array.isArray(given) ? SCOPES.filter((scope) => given.includes(scope)) : undefined;
  return {
    run,
    clock,
    name: textIn(name, NAME),
    labels: labelsIn(labels),
    version: textIn(version, NAME),
    os: textIn(os, NAME),
    model: textIn(model, NAME),
    addresses: (Array.isArray(addresses) ? addresses : [])
      .map((address) => textIn(address, NAME))
      .filter((address) => address !== undefined)
      .slice(0, PLACES.machineAddresses.max),
    scopes,
    isKeyed: typeof key === 'string',
    mayNameClients: typeof key === 'string' && (scopes === undefined || scopes.includes('hub')),
  };
}

const textIn = (value: unknown, form: RegExp): string | undefined =>
  typeof value === 'string' && form.test(value) ? value : undefined;

function labelsIn(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(membersOf(value)).filter(
    (entry): entry is [string, string] => LABEL_NAME.test(entry[0]) && textIn(entry[1], LABEL) !== undefined,
  );
  return Object.fromEntries(entries.slice(0, PLACES.machineLabels.max));
}
