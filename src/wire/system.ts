/** What /api/system answers. */

export interface SystemPayload {
  readonly hostname: string;
  readonly platform: string;
  readonly os: {
    readonly name: string;
    readonly version: string;
    readonly build: string;
    readonly arch: string;
  };
  readonly cpu: {
    readonly manufacturer: string;
    readonly brand: string;
    readonly cores: number;
    readonly physical_cores: number;
    /** GHz. */
    readonly base_speed: number | null;
  };
  readonly gpu: {
    readonly manufacturer: string;
    readonly brand: string;
    readonly memory_total: number | null;
  } | null;
  readonly memory: { readonly total: number; readonly slots: number | null };
  readonly disks: readonly {
    readonly fs: string;
    readonly type: string | null;
    readonly size: number | null;
    readonly mount: string;
  }[];
  readonly network: {
    readonly name: string;
    readonly mac: string | null;
    readonly ipv4: string | null;
    readonly ipv6: string | null;
  } | null;
  /** The rest comes with detail only. */
  readonly gpus?: readonly unknown[];
  readonly interfaces?: readonly unknown[];
  readonly batteries?: readonly unknown[];
  readonly boot_time?: number;
  readonly service?: {
    readonly version: string;
    readonly pid: number;
    readonly started_at: number;
    readonly node: string;
  };
  readonly capabilities?: unknown;
}
