/** The lines of the shipped configuration (packaging/config.yaml) that a pairing changes. Pure. */

interface Line {
  readonly shipped: string;
  readonly open: string;
  /** The same in YAML, for a configuration of another form. */
  readonly value: string;
}

/** The setting that lets clients on this machine in without a key, and others with one. */
export const LOCAL_CLIENTS = 'allowed_ips: ["127.0.0.1", "::1", "*"]';

export const SHIPPED_LINES = {
  'server.host': {
    shipped: '  host: 127.0.0.1 # hostwire pair',
    open: '  host: "::" # hostwire pair',
    value: '"::"',
  },
  'auth.enabled': {
    shipped: '  enabled: false # hostwire pair',
    open: '  enabled: true # hostwire pair',
    value: 'true',
  },
  /** Changed for a proxy on this machine, whose clients would have its address. */
  'auth.allowed_ips': {
    shipped: `  ${LOCAL_CLIENTS} # hostwire pair`,
    open: `  #${LOCAL_CLIENTS} # hostwire pair`,
    value: '["*"]',
  },
} as const satisfies Readonly<Record<string, Line>>;

export type ShippedKey = keyof typeof SHIPPED_LINES;

/** A key, and its line in a text, counted from 1. */
export interface KeyLine {
  readonly key: ShippedKey;
  readonly line: number;
}

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line);

/** Returns `text` with these lines changed and every other byte as it is; undefined if one of them is not as shipped. */
export function openLines(text: string, places: readonly KeyLine[]): string | undefined {
  const lines = text.split('\n');
  for (const { key, line } of places) {
    const found = lines[line - 1];
    const { shipped, open } = SHIPPED_LINES[key];
    if (found === undefined || withoutReturn(found) !== shipped) return undefined;
    lines[line - 1] = found.endsWith('\r') ? `${open}\r` : open;
  }
  return lines.join('\n');
}
