/** The certificate and the key of `server.tls`: reads both files, and refuses a pair that cannot be used. */
import { isCertificateAlone, judgePair, type PemFile, type TlsPair } from '../tls/pair.ts';
import type { Findings } from './findings.ts';
import { formatPlace } from './problems.ts';
import { MAX_FILE_BYTES } from './read.ts';
import { DEFAULT_CONFIG } from './schema.ts';
import { pathIn, type Refuse, readTrusted, refuserOf, type Settings } from './setting-files.ts';

const CERT = 'server.tls.cert';
const KEY = 'server.tls.key';
const PORT = 'server.tls.port';
const PLAIN_PORT = 'server.port';

/**
 * Reads the files into the settings `server.tls.cert` and `server.tls.key`, and returns their paths. `uid`: the service's
 * user; undefined on Windows.
 */
export function resolveTls(
  settings: Settings,
  findings: Findings,
  uid: number | undefined,
): readonly string[] {
  const refuse = refuserOf(settings, findings);
  judgeKeys(settings, refuse);
  const paths: string[] = [];
  const read = (key: string): PemFile | undefined => {
    const setting = settings.get(key);
    if (setting === undefined) return undefined;
    const file = pathIn(setting);
    paths.push(file);
    const pem = readTrusted(file, {
      maxBytes: MAX_FILE_BYTES,
      isSecret: (text) => key === KEY && !isCertificateAlone(text),
      uid,
    });
    if ('message' in pem) {
      refuse(key, `${file}: ${pem.message}`);
      return undefined;
    }
    const value = { path: file, pem: pem.text };
    settings.set(key, { ...setting, value });
    return value;
  };
  const [cert, key] = [read(CERT), read(KEY)];
  if (cert !== undefined && key !== undefined) takePair({ cert, key }, findings, refuse);
  return paths;
}

/** Keys that are each valid and cannot stand alone, or beside each other. */
function judgeKeys(settings: Settings, refuse: Refuse): void {
  const missing = [CERT, KEY].filter((key) => !settings.has(key));
  const given = [CERT, KEY, PORT].find((key) => settings.has(key));
  if (given !== undefined && missing.length > 0)
    refuse(given, `needs ${missing.join(' and ')}; set ${missing.length === 1 ? 'it' : 'them'} too`);
  const plain = settings.get(PLAIN_PORT);
  const port = settings.get(PORT)?.value;
  if (port === undefined || port === 0) return;
  if (port !== (plain?.value ?? DEFAULT_CONFIG.server.port)) return;
  const place = plain === undefined ? 'by default' : `at ${formatPlace(plain.file, plain.line)}`;
  refuse(PORT, `${PLAIN_PORT} is ${port} too, ${place}; without ${PORT} that port speaks HTTPS`);
}

function takePair(pair: TlsPair, findings: Findings, refuse: Refuse): void {
  const { problems, warnings } = judgePair(pair, Date.now());
  for (const { part, message } of problems) refuse(`server.tls.${part}`, `${pair[part].path}: ${message}`);
  for (const text of warnings) findings.notices.push({ level: 'warn', text: `${pair.cert.path}: ${text}` });
}
