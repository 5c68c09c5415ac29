/** Every configuration key once. */

/** An app that clients may start by name (`processes.launch`). */
export interface LaunchEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly allow_args: boolean;
}

export interface Config {
  readonly stats: { readonly stream_interval_seconds: number };
  readonly auth: {
    readonly enabled: boolean;
    /** The key itself, also when it came from `api_key_file`; undefined: none is configured. */
    readonly api_key: string | undefined;
    readonly api_key_file: string | undefined;
    readonly allowed_ips: readonly string[];
    readonly blocked_ips: readonly string[];
    readonly refuse_forwarded: boolean;
  };
  readonly features: {
    readonly enable_sleep: boolean;
    readonly enable_hibernate: boolean;
    readonly enable_restart: boolean;
    readonly enable_shutdown: boolean;
    readonly enable_media: boolean;
    readonly enable_processes: boolean;
    readonly enable_process_control: boolean;
    readonly enable_dashboard: boolean;
  };
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly max_streams: number;
    readonly allowed_hosts: readonly string[];
    readonly cors_origins: readonly string[];
    readonly trusted_proxies: readonly string[];
  };
  readonly power: { readonly backend: 'system' | 'record' };
  readonly processes: { readonly launch: Readonly<Record<string, LaunchEntry>> };
  readonly host: { readonly proc: string; readonly sys: string };
  readonly log: { readonly level: 'error' | 'warn' | 'info' | 'debug' };
}

export const DEFAULT_CONFIG: Config = {
  stats: { stream_interval_seconds: 2 },
  auth: {
    enabled: false,
    api_key: undefined,
    api_key_file: undefined,
    allowed_ips: [],
    blocked_ips: [],
    refuse_forwarded: true,
  },
  features: {
    enable_sleep: true,
    enable_hibernate: true,
    enable_restart: false,
    enable_shutdown: false,
    enable_media: true,
    enable_processes: true,
    enable_process_control: false,
    enable_dashboard: true,
  },
  server: {
    host: '::',
    port: 9990,
    max_streams: 0,
    allowed_hosts: [],
    cors_origins: [],
    trusted_proxies: [],
  },
  power: { backend: 'system' },
  processes: { launch: {} },
  host: { proc: '/proc', sys: '/sys' },
  log: { level: 'info' },
};
