/** The start-up warning for a service that is open to the network. */
import { parseAddress } from './addresses.ts';

/** The part of a configuration that the warning depends on, in the configuration's words. */
export interface ExposureSettings {
  readonly auth: { readonly enabled: boolean };
  readonly server: { readonly host: string };
  readonly features: {
    readonly enable_sleep: boolean;
    readonly enable_hibernate: boolean;
    readonly enable_restart: boolean;
    readonly enable_shutdown: boolean;
    readonly enable_media: boolean;
    readonly enable_processes: boolean;
    readonly enable_process_control: boolean;
    readonly enable_wake: boolean;
  };
}

export function isLoopback(host: string): boolean {
  const address = parseAddress(host)?.text;
  return host === 'localhost' || address === '::1' || address?.startsWith('127.') === true;
}

function listSwitches({ features }: ExposureSettings): string {
  const switches = Object.entries({
    sleep: features.enable_sleep,
    hibernate: features.enable_hibernate,
    restart: features.enable_restart,
    shutdown: features.enable_shutdown,
    media: features.enable_media,
    'process list': features.enable_processes,
    'process control': features.enable_process_control,
    'waking other machines': features.enable_wake,
  });
  const named = (isOn: boolean) =>
    switches.flatMap(([name, value]) => (value === isOn ? [name] : [])).join(', ') || 'nothing';
  return `${named(true)}: on; ${named(false)}: off`;
}

/** The warning that auth is off while the service listens beyond loopback; undefined where it does not apply. */
export function exposureWarning(config: ExposureSettings): string | undefined {
  const { auth, server } = config;
  if (auth.enabled || isLoopback(server.host)) return undefined;
  return (
    `anyone who can reach this machine may use the service: auth.enabled is false and server.host is ${server.host} ` +
    `(${listSwitches(config)}). Set auth.enabled and auth.api_key, or server.host to 127.0.0.1. ` +
    'Do not forward a port of your router to it; use a VPN to reach it from outside.'
  );
}
