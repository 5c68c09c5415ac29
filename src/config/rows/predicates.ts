/** Predicates for the texts and maps of a configuration. */

import { isIPv4, isIPv6 } from 'node:net';
import { isAbsolute } from 'node:path';
import { isObject } from '../../json.ts';

/** An argument, a path or a variable; the kernel would end it at a NUL. */
export function isArgument(text: string): boolean {
  return !text.includes('\0');
}

export function isAbsolutePath(text: string): boolean {
  return isAbsolute(text) && isArgument(text);
}

/** A path, and not the text of a file. */
export function isFileName(text: string): boolean {
  return text !== '' && !/[\0\r\n]|-----BEGIN/u.test(text);
}

/** A key must fit into a header and a query: printable ASCII, no space at either end, not empty. */
export function isPrintable(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/u.test(text);
}

/** A host name: DNS labels, which may contain an underscore; no port, no path. */
export function isHostName(text: string): boolean {
  return (
    text.length <= 253 && /^(?!-)(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{0,62}[A-Za-z0-9_]\.?$/u.test(text)
  );
}

/** An address or a host name that a server can listen on. */
export function isListenHost(text: string): boolean {
  if (text.includes(':')) return isIPv6(text);
  if (/^[0-9.]*$/u.test(text)) return isIPv4(text);
  return isHostName(text);
}

/** `mqtt://` or `mqtts://`, a host, perhaps a port, and nothing else. */
export function isBrokerUrl(text: string): boolean {
  const parts = /^mqtts?:\/\/(\[[^\]]+\]|[^:/?#@[\]]+)(?::(\d{1,5}))?\/?$/u.exec(text);
  const [, host = '', port = '1'] = parts ?? [];
  const isHost = host.startsWith('[') ? isIPv6(host.slice(1, -1)) : isListenHost(host);
  return isHost && Number(port) >= 1 && Number(port) <= 65_535;
}

/** `http://` or `https://`, a host, perhaps a port, and nothing else. */
export function isAgentUrl(text: string): boolean {
  return /^https?:/u.test(text) && isBrokerUrl(text.replace(/^http(s?):/u, 'mqtt$1:'));
}

/** `ws://` or `wss://`, a host, perhaps a port, and perhaps a path. */
export function isHubUrl(text: string): boolean {
  const [, secure, place = '', path = ''] = /^ws(s?):\/\/([^/]+)(\/.*)?$/u.exec(text) ?? [];
  return isBrokerUrl(`mqtt${secure ?? ''}://${place}`) && /^(?:\/[A-Za-z0-9._~-]+)*\/?$/u.test(path);
}

/** A map of few short labels; every name is checked, also one such as "constructor". */
export function isLabels(value: unknown): boolean {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= 16 &&
    entries.every(
      ([name, text]) =>
        isId(name) && typeof text === 'string' && /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u.test(text),
    )
  );
}

/** The beginning of a topic: no wildcard, no empty level. */
export function isTopic(text: string): boolean {
  return text.length <= 128 && /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/u.test(text);
}

/** The name of an app in `processes.launch`, of a machine in `wake.hosts`, of a rule in `watch.rules`. */
export const isEntryName = (text: string) => /^[A-Za-z0-9_.-]{1,64}$/u.test(text);

/** The id of a machine, a hub or a key; also the name of a label. */
export const isId = (text: string) => /^[A-Za-z0-9_-]{1,64}$/u.test(text);

/** A map of variable names to texts; every key is checked, also one such as "constructor". */
export function isEnvironment(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(
    ([name, text]) => /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) && typeof text === 'string' && isArgument(text),
  );
}
