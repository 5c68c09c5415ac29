/** What is said of a service that anyone in the network may use: how to close it, and what it lets them do. */
import type { Config } from '../config/schema.ts';
import { parseAddress } from './addresses.ts';

function isLoopback(host: string): boolean {
  const address = parseAddress(host)?.text;
  return host === 'localhost' || address === '::1' || address?.startsWith('127.') === true;
}

function listSwitches({ features }: Config): string {
  const switches = Object.entries({
    sleep: features.enable_sleep,
    hibernate: features.enable_hibernate,
    restart: features.enable_restart,
    shutdown: features.enable_shutdown,
    media: features.enable_media,
    'process list': features.enable_processes,
    'process control': features.enable_process_control,
  });
  const named = (isOn: boolean) =>
    switches.flatMap(([name, value]) => (value === isOn ? [name] : [])).join(', ') || 'nothing';
  return `${named(true)}: on; ${named(false)}: off`;
}

/** The one loud warning, for auth off while listening beyond loopback; undefined where it does not apply. */
export function exposureWarning(config: Config): string | undefined {
  const { auth, server } = config;
  if (auth.enabled || isLoopback(server.host)) return undefined;
  return (
    `anyone who can reach this machine may use the service: auth.enabled is false and server.host is ${server.host} ` +
    `(${listSwitches(config)}). Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ` +
    'Do not forward a port of your router to it; use a VPN to reach it from outside.'
  );
}
