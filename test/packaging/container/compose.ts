/** The services of packaging/container/compose.yaml. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';

const FILE = path.resolve(import.meta.dirname, '../../../../../packaging/container/compose.yaml');

export interface ComposeService {
  readonly pid?: 'host';
  readonly uts?: 'host';
  readonly read_only?: boolean;
  /** "UID:GID". */
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** "SOURCE:DESTINATION[:OPTIONS]". */
  readonly volumes?: readonly string[];
}

const KNOWN = new Set([
  ...['pid', 'uts', 'read_only', 'user', 'environment', 'volumes'],
  // As they are here for every service: no network namespace, no capability, no way to get one.
  ...['network_mode', 'cap_drop', 'security_opt'],
  // They do not matter to one container whose image was built before.
  ...['build', 'image', 'restart', 'profiles'],
]);

/** The text of the file as Compose reads it where no variable is set. */
const withDefaults = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

/** Throws where the file has a key that the test would leave out unseen. */
export function readService(name: string): ComposeService {
  const { services } = load(withDefaults(readFileSync(FILE, 'utf8'))) as {
    readonly services: Readonly<Record<string, ComposeService>>;
  };
  const service = services[name];
  if (service === undefined) throw new Error(`no service ${name}`);
  const unknown = Object.keys(service).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) throw new Error(`the test does not know ${unknown.join(', ')}`);
  return service;
}
