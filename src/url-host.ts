/** Hosts as URLs have them: an IPv6 address is in brackets there. */

/** Returns `host` as a URL has it. */
export const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** Returns the host of `URL.hostname`, without brackets. */
export const fromUrl = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');
