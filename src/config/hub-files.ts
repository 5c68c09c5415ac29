/** The key files of `hub.agents`: reads the keys, and refuses what cannot stand together. */
import { type Findings, placed } from './findings.ts';
import { accepts, KEYS } from './schema.ts';
import { pathIn, readTrusted, type Settings } from './setting-files.ts';

const AGENTS = 'hub.agents.';
/** As that of `auth.api_key_file`. */
const MAX_KEY_BYTES = 4096;

/** An entry as judgeEntries leaves it. */
interface WrittenAgent {
  readonly url: string;
  readonly key_file?: string;
  readonly pin?: string;
}

/**
 * Reads the key of each agent into its entry, and returns the paths of the files. `uid`: the service's user; undefined on
 * Windows.
 */
export function resolveAgents(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): readonly string[] {
  const files: string[] = [];
  for (const [key, setting] of settings) {
    if (!key.startsWith(AGENTS)) continue;
    // judgeEntries has checked it.
    const agent = setting.value as WrittenAgent;
    const refuse = (name: string, message: string): void => {
      const path = ['hub', 'agents', key.slice(AGENTS.length), name];
      findings.problems.push(placed(setting.file, { line: setting.line, path, message }));
    };
    if (agent.pin !== undefined && !agent.url.startsWith('https:'))
      refuse('pin', 'needs https:// in its url');
    if (agent.key_file === undefined) continue;
    const file = pathIn({ ...setting, value: agent.key_file });
    files.push(file);
    const secret = readKey(file, uid);
    // The path is not shown: it may be the key itself.
    if (typeof secret !== 'string') refuse('key_file', `the file it names: ${secret.message}`);
    else settings.set(key, { ...setting, value: { ...agent, key_file: { path: file, secret } } });
  }
  return files;
}

function readKey(file: string, uid: number | undefined): string | { readonly message: string } {
  const read = readTrusted(file, { maxBytes: MAX_KEY_BYTES, isSecret: true, uid });
  if ('message' in read) return read;
  const key = read.text.replace(/\r?\n$/u, '');
  const row = KEYS.auth.api_key;
  return accepts(row, key) ? key : { message: `expected ${row.expected}` };
}
