/** The certificate and the key of `server.tls`: reads both files, and refuses a pair that cannot be used. */
import path from 'node:path';
import { judgePair, type PemFile, type TlsPair } from '../tls/pair.ts';
import { type Findings, placed, type Setting } from './findings.ts';
import { whyFileNotTrusted } from './owners.ts';
import { formatPlace } from './problems.ts';
import { MAX_FILE_BYTES, type Ownership, readText } from './read.ts';
import { DEFAULT_CONFIG } from './schema.ts';

const CERT = 'server.tls.cert';
const KEY = 'server.tls.key';
const PORT = 'server.tls.port';
const PLAIN_PORT = 'server.port';

const OTHERS_READ = 0o004;

type Settings = Map<string, Setting>;
type Refuse = (key: string, message: string) => void;

/**
 * Reads the files into the settings `server.tls.cert` and `server.tls.key`, and returns their paths. `uid`: the service's
 * user; undefined on Windows.
 */
export function resolveTls(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): readonly string[] {
  const refuse: Refuse = (key, message) => {
    // Only keys that are set are refused.
    const { file, line } = settings.get(key) ?? { file: key, line: undefined };
    findings.problems.push(placed(file, { line, path: key.split('.'), message }));
  };
  judgeKeys(settings, refuse);
  const paths: string[] = [];
  const read = (key: string): PemFile | undefined => {
    const setting = settings.get(key);
    if (setting === undefined) return undefined;
    const file = path.resolve(path.dirname(setting.file), String(setting.value));
    paths.push(file);
    const pem = readPem(key, file, uid, refuse);
    if (pem !== undefined) settings.set(key, { ...setting, value: pem });
    return pem;
  };
  const [cert, key] = [read(CERT), read(KEY)];
  if (cert !== undefined && key !== undefined) takePair({ cert, key }, findings, refuse);
  return paths;
}

/** Keys that are each valid and cannot stand alone, or beside each other. */
function judgeKeys(settings: Settings, refuse: Refuse): void {
  const missing = [CERT, KEY].filter((key) => !settings.has(key));
  const given = [CERT, KEY, PORT].find((key) => settings.has(key));
  if (given !== undefined && missing.length > 0) refuse(given, `needs ${missing.join(' and ')} as well`);
  const plain = settings.get(PLAIN_PORT);
  const port = settings.get(PORT)?.value;
  if (port === undefined || port === 0) return;
  if (port !== (plain?.value ?? DEFAULT_CONFIG.server.port)) return;
  const place = plain === undefined ? 'by default' : `at ${formatPlace(plain.file, plain.line)}`;
  refuse(PORT, `${PLAIN_PORT} is ${port} too, ${place}; without ${PORT} that port speaks HTTPS`);
}

function readPem(key: string, file: string, uid: number | undefined, refuse: Refuse): PemFile | undefined {
  const read = readText(file, MAX_FILE_BYTES);
  const reason = 'message' in read ? read.message : whyNotSafe(key, file, read.owner, uid);
  if (reason !== undefined) refuse(key, `${file}: ${reason}`);
  return 'message' in read || reason !== undefined ? undefined : { path: file, pem: read.text };
}

function whyNotSafe(
  key: string,
  file: string,
  owner: Ownership,
  uid: number | undefined,
): string | undefined {
  const reason = whyFileNotTrusted(file, owner, uid);
  if (reason !== undefined || key !== KEY || uid === undefined) return reason;
  return (owner.mode & OTHERS_READ) === 0 ? undefined : 'can be read by others; run chmod o-r on it';
}

function takePair(pair: TlsPair, findings: Findings, refuse: Refuse): void {
  const { problems, warnings } = judgePair(pair, Date.now());
  for (const { part, message } of problems) refuse(`server.tls.${part}`, `${pair[part].path}: ${message}`);
  for (const text of warnings) findings.notices.push({ level: 'warn', text: `${pair.cert.path}: ${text}` });
}
