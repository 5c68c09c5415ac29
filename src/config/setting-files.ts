/** Files that settings name: where they are, and whether what they hold may be used. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { type Findings, placed, type Setting } from './findings.ts';
import { whyFileNotTrusted } from './owners.ts';
import { codeOf, type ReadText, readText } from './read.ts';

/** By dotted key. */
export type Settings = Map<string, Setting>;

/** Adds a problem of a key that is set. */
export type Refuse = (key: string, message: string) => void;

export function refuserOf(settings: Settings, findings: Findings): Refuse {
  return (key, message) => {
    const { file, line } = settings.get(key) ?? { file: key, line: undefined };
    findings.problems.push(placed(file, { line, path: key.split('.'), message }));
  };
}

/** A relative path starts at the folder of the file that names it. */
export const pathIn = ({ file, value }: Setting): string => path.resolve(path.dirname(file), String(value));

const EXTENSION = /^[\w .~:/\\-]*\.[A-Za-z]{2,8}$/u;

/**
 * Names the file of a setting in a message. Its path is left out where nothing is there and it does not look like one:
 * it may be the secret itself, written in place of the name of its file.
 */
export function nameFile(setting: Setting): string {
  const written = String(setting.value);
  const file = pathIn(setting);
  // `/run` of `/run/secrets/key`: a secret may have slashes, and no folder of such a name exists.
  const [first = ''] = /^[/\\]*[^/\\]+/u.exec(written) ?? [];
  const isInFolder = first.length < written.length && isThere(pathIn({ ...setting, value: first }));
  return isInFolder || EXTENSION.test(written) || isThere(file) ? file : 'the file it names';
}

function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch (error) {
    return codeOf(error) === 'EACCES';
  }
}

const OTHERS_READ = 0o004;

export interface TrustedFile {
  readonly maxBytes: number;
  /** Others must not be able to read it; where that depends on its text, whether it does. */
  readonly isSecret: boolean | ((text: string) => boolean);
  /** The service's user; undefined on Windows, where no rights are judged. */
  readonly uid: number | undefined;
}

/** The text of a file that nobody but the service's user and root can write, or why it must not be used. */
export function readTrusted(
  file: string,
  { maxBytes, isSecret, uid }: TrustedFile,
): Pick<ReadText, 'text'> | { readonly message: string } {
  const read = readText(file, maxBytes);
  if ('message' in read) return read;
  const reason = whyFileNotTrusted(file, read.owner, uid);
  if (reason !== undefined) return { message: reason };
  const isHidden = typeof isSecret === 'boolean' ? isSecret : isSecret(read.text);
  if (isHidden && uid !== undefined && (read.owner.mode & OTHERS_READ) !== 0)
    return { message: 'can be read by others; run chmod o-r on it' };
  return read;
}
