/** The start-up warning for a service that is open to the network. */
import { ALL_SCOPES, allows, type Scope, scopesOf } from '../scopes.ts';
import { OPERATIONS } from '../wire/operations.ts';
import { parseAddress } from './addresses.ts';

/** The settings that the warning depends on, with the names of the configuration. */
export interface ExposureSettings {
  readonly auth: { readonly enabled: boolean; readonly guests?: readonly Scope[] | undefined };
  readonly server: { readonly host: string };
  readonly features: Readonly<Record<Flag, boolean>>;
}

/** The flags of operations with a scope. */
type Flag = Extract<
  (typeof OPERATIONS)[keyof typeof OPERATIONS],
  { readonly scope: Scope; readonly feature: string }
>['feature'];

export function isLoopback(host: string): boolean {
  const address = parseAddress(host)?.text;
  return host === 'localhost' || address === '::1' || address?.startsWith('127.') === true;
}

/** The abilities of clients, each with an operation that has its scope and its flag. */
export const SWITCHES: readonly (readonly [
  name: string,
  operation: { readonly scope: Scope; readonly feature?: Flag },
])[] = [
  ['reading', OPERATIONS.getUsage],
  ['sleep', OPERATIONS.sleep],
  ['hibernate', OPERATIONS.hibernate],
  ['restart', OPERATIONS.restart],
  ['shutdown', OPERATIONS.shutdown],
  ['media', OPERATIONS.controlMedia],
  ['process list', OPERATIONS.listProcesses],
  ['process control', OPERATIONS.killProcess],
  ['waking other machines', OPERATIONS.wake],
];

/** Lists what a client without a key may use: what is switched on, as far as `auth.guests` has the scope for it. */
function listSwitches({ auth, features }: ExposureSettings): string {
  const guests = auth.guests === undefined ? ALL_SCOPES : scopesOf(auth.guests);
  const isOn = (flag: Flag | undefined) => flag === undefined || features[flag];
  const named = (wanted: boolean) =>
    SWITCHES.flatMap(([name, { scope, feature }]) =>
      (isOn(feature) && allows(guests, scope)) === wanted ? [name] : [],
    ).join(', ') || 'nothing';
  return `${named(true)}: on; ${named(false)}: off${auth.guests === undefined ? '' : ', or not in auth.guests'}`;
}

/** Returns who may use the service, for `hostwire doctor`. `possible`: what a client without a key may do. */
export function describeExposure(config: ExposureSettings, possible = listSwitches(config)): string {
  const { auth, server } = config;
  if (auth.enabled)
    return `clients need a key, or an address in auth.allowed_ips${auth.guests === undefined ? '' : ` and then may: ${auth.guests.join(', ') || 'nothing'}`}`;
  const where = isLoopback(server.host) ? 'this machine only' : `any client that reaches ${server.host}`;
  return `${where}, without a key (${possible})`;
}

/** The settings of a hub that determine what it allows any client. */
export interface HubExposureSettings extends Pick<ExposureSettings, 'auth' | 'server'> {
  readonly hub: {
    readonly commands: Readonly<
      Record<
        string,
        {
          readonly commands: readonly string[];
          readonly clients?: readonly string[];
          readonly keys?: readonly string[];
          readonly hosts?: readonly string[];
          readonly labels: Readonly<Record<string, string>>;
        }
      >
    >;
  };
}

/** Lists the commands that `hub.commands` allows clients without a key. The flags of the machines are unknown here. */
function listCommands({ hub }: HubExposureSettings): string {
  const rules = Object.values(hub.commands).filter(({ keys }) => keys === undefined);
  const texts = rules.map(({ commands, clients, hosts, labels }) => {
    const what = commands.includes('*') ? 'everything' : commands.join(', ');
    const where = hosts === undefined ? 'every machine' : hosts.join(', ');
    const marks = Object.entries(labels).map(([name, text]) => `${name}: ${text}`);
    const labelled = marks.length === 0 ? '' : ` with ${marks.join(', ')}`;
    return `${what} on ${where}${labelled}${clients === undefined ? '' : ` from ${clients.join(', ')}`}`;
  });
  return texts.length === 0 ? 'none' : `${texts.join('; ')}, as far as the machines allow it`;
}

/** Lists what a client without a key may use at a hub: not the features of its own machine. */
export const listHubSwitches = (config: HubExposureSettings): string =>
  `reading of all its machines: on; commands: ${listCommands(config)}${config.auth.guests === undefined ? '' : `; of these what auth.guests allows: ${config.auth.guests.join(', ')}`}`;

/** Like exposureWarning, for a hub. */
export const hubExposureWarning = (config: HubExposureSettings): string | undefined =>
  warningOf(config, 'this hub', 'it', listHubSwitches(config));

/** Returns the warning that auth is off while the service listens beyond loopback; undefined if it does not apply. */
export function exposureWarning(config: ExposureSettings): string | undefined {
  return warningOf(config, 'this machine', 'the service', listSwitches(config));
}

function warningOf(
  { auth, server }: Pick<ExposureSettings, 'auth' | 'server'>,
  where: string,
  what: string,
  possible: string,
): string | undefined {
  if (auth.enabled || isLoopback(server.host)) return undefined;
  return (
    `anyone who can reach ${where} may use ${what}: auth.enabled is false and server.host is ${server.host} ` +
    `(${possible}). Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ` +
    'Do not forward a port of your router to it; use a VPN to reach it from outside.'
  );
}
