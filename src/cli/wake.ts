/** `hostwire wake`: wakes a machine of the configuration, or a MAC address, without a running service. */
import { isIPv4 } from 'node:net';
import { quote } from '../clean.ts';
import { type LoadOptions, loadConfig } from '../config/load.ts';
import type { WakeHost } from '../host/wake.ts';
import { parseMac, WAKE_PORT } from '../wake/packet.ts';
import { describeSent, type WakeTarget, wakeMachine } from '../wake/wake.ts';
import { jsonText, type Output } from './output.ts';

export interface WakeWords {
  /** A name of `wake.hosts`, or a MAC address. */
  readonly host: string;
  /** Replaces the addresses of the interfaces and of the entry. */
  readonly broadcast: string | undefined;
}

/** Returns why the arguments are invalid; undefined if they are valid. */
export function describeWakeProblem(host?: string, broadcast?: string): string | undefined {
  if (host === undefined) return 'wake needs a name of wake.hosts, or a MAC address';
  if (broadcast !== undefined && !isIPv4(broadcast))
    return `--broadcast expects an IPv4 address, found ${quote(broadcast)}`;
  return undefined;
}

/** Exit code 1 if no packet was sent. Throws a ConfigError for a name if the configuration is invalid. */
export async function wake(
  words: WakeWords,
  options: LoadOptions,
  isJson: boolean,
  interfaces: WakeHost['readBroadcastAddresses'],
): Promise<Output> {
  const found = findTarget(words, options);
  if (typeof found === 'string')
    return isJson ? jsonOf({ host: words.host, error: found }) : textOf(found, 1);
  const target = words.broadcast === undefined ? found : { ...found, broadcast: words.broadcast };
  const { failure, ...sent } = await wakeMachine(target, interfaces);
  if (isJson) return jsonOf({ host: words.host, ...sent, error: failure ?? null });
  if (failure !== undefined) return textOf(`no packets sent: ${failure}`, 1);
  return textOf(`sent packets for ${sent.mac} to ${sent.targets.map(describeSent).join(', ')}`, 0);
}

/** Returns the machine, or why it was not found. A MAC address needs no configuration, which may then be invalid. */
function findTarget({ host }: WakeWords, options: LoadOptions): WakeTarget | string {
  const mac = parseMac(host);
  if (mac !== undefined) return { mac, port: WAKE_PORT };
  const { hosts } = loadConfig(options).config.wake;
  const entry = Object.hasOwn(hosts, host) ? hosts[host] : undefined;
  if (entry !== undefined) return entry;
  const names = Object.keys(hosts);
  const known = names.length === 0 ? 'it is empty' : `it has ${names.join(', ')}`;
  return `${quote(host)} is neither a MAC address nor in wake.hosts of the configuration (${known})`;
}

const textOf = (line: string, exitCode: number): Output => ({ text: `${line}\n`, exitCode });

const jsonOf = (report: { readonly host: string; readonly error: string | null }): Output => ({
  text: jsonText(report),
  exitCode: report.error === null ? 0 : 1,
});
