/** Determines which service `hostwire top` connects to, and with which key. */
import { quote } from '../clean.ts';
import type { Config } from '../config/config.ts';
import { KEYS } from '../config/rows/key-table.ts';
import { readText } from '../config/sources/read-text.ts';
import { QUOTAS } from '../fairness/limits.ts';
import { pinOf, readCertificates } from '../tls/certificate.ts';
import { inUrl } from '../url-host.ts';

export interface TopWords {
  /** As given; undefined: the service of the configuration. */
  readonly url: string | undefined;
  /** The id of a machine, if the address is that of a hub. */
  readonly machine: string | undefined;
  readonly keyFile: string | undefined;
  readonly pin: string | undefined;
  readonly isOnce: boolean;
}

export interface Target {
  readonly url: string;
  readonly key: string | undefined;
  /** Pin of the service's certificate, if it is not signed by an authority. */
  readonly pin: string | undefined;
  /** The id of a machine of a hub. */
  readonly machine?: string | undefined;
}

/** Every user of a machine can read its command lines, but not the environment of others. */
const KEY_VARIABLE = 'HOSTWIRE_KEY';
const DEFAULT_PORT = 9990;

/** Returns why the arguments are invalid; undefined if they are valid. */
export function describeTopProblem({ url, pin }: TopWords): string | undefined {
  if (url !== undefined && addressOf(url) === undefined)
    return `${quote(url)} is not the address of a service, such as http://pc:9990 (pass a key with --key-file or $${KEY_VARIABLE})`;
  if (pin !== undefined && !/^sha256\/[\w+/]{43}=$/u.test(pin))
    return `--pin expects sha256/BASE64, found ${quote(pin)}`;
  return pin !== undefined && !/^https:/iu.test(url ?? '')
    ? '--pin needs an address with https://'
    : undefined;
}

/** `pc`, `pc:9990`, `http://pc:9990/path`. */
function addressOf(text: string): string | undefined {
  // Without a scheme, the default port of hostwire.
  const port = /:\d+$/u.test(text) ? '' : `:${DEFAULT_PORT}`;
  try {
    const url = new URL(text.includes('/') ? text : `http://${text}${port}`);
    const hasMore = [url.username, url.password, url.search, url.hash].some((part) => part !== '');
    return hasMore || !/^https?:$/u.test(url.protocol) ? undefined : url.href.replace(/\/$/u, '');
  } catch {
    return undefined;
  }
}

/** `load`: reads the configuration of this machine's service, whose key goes to no other. Throws if it is invalid. */
export function findTarget(
  words: TopWords,
  variables: Readonly<Record<string, string | undefined>>,
  load: () => Pick<Config, 'server' | 'auth'>,
): Target {
  const given = words.keyFile === undefined ? variables[KEY_VARIABLE] : readKeyFile(words.keyFile);
  const url = words.url === undefined ? undefined : addressOf(words.url);
  if (url !== undefined) {
    const { machine, pin } = words;
    return { url, key: given, pin, ...(machine !== undefined && { machine }) };
  }
  const config = load();
  const { server, auth } = config;
  const { cert, port: securePort } = server.tls;
  const isSecure = cert !== undefined && securePort === undefined;
  // `::` accepts IPv4 too.
  const host = ['0.0.0.0', '::'].includes(server.host) ? '127.0.0.1' : server.host;
  return {
    url: `${isSecure ? 'https' : 'http'}://${inUrl(host)}:${server.port}`,
    key: given ?? (auth.enabled ? auth.api_key : undefined),
    pin: isSecure ? pinOfText(cert.pem) : undefined,
  };
}

function pinOfText(pem: string): string | undefined {
  const [certificate] = readCertificates(pem);
  return certificate === undefined || certificate instanceof Error ? undefined : pinOf(certificate);
}

function readKeyFile(file: string): string {
  const read = readText(file, QUOTAS.secretFile.maxBytes);
  // Messages never contain the path, which may be the key itself.
  if ('message' in read) throw new Error(`the file of --key-file ${read.message}`);
  const key = read.text.replace(/\r?\n$/u, '');
  const row = KEYS.auth.api_key;
  if (!row.accepts(key)) throw new Error(`the file of --key-file: expected ${row.expected}`);
  return key;
}
