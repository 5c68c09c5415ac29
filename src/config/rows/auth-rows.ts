/** The rows of keys beside `auth.api_key`, and of `auth.guests`. */
import { parseExpiry } from '../../access/expiry.ts';
import { DEFAULT_KEY, isDigest } from '../../access/key.ts';
import { SCOPES, type Scope } from '../../scopes.ts';
import { isFileName, isId } from './predicates.ts';
import { clientsRow, fileRow, namedRow, namesOf, optional, row, type SecretFile, some, text } from './row.ts';

const SCOPE_LIST = namesOf('scope', SCOPES, `a list of scopes: ${SCOPES.join(', ')}`);

/** The keys of one entry of `auth.keys`. */
export const KEY_KEYS = {
  digest: optional(
    text('a digest, sha256/BASE64', isDigest),
    "The SHA-256 of the key's bytes, as `hostwire pair` prints it.",
    // It may be the key itself.
    { defaultInWords: 'required, or `key_file`', mayBeSecret: true },
  ),
  key_file: fileRow<SecretFile>(
    'long key',
    'the path of a file that holds the key',
    'A file that holds the key, instead of `digest`; at least 32 characters, at most 4 KiB; a trailing newline is cut. Only its owner and its group may be able to read it.',
  ),
  scopes: row<readonly Scope[]>(
    some(SCOPE_LIST),
    [],
    `What it may do: ${SCOPES.map((name) => `\`${name}\``).join(', ')} (docs/keys.md).`,
    { defaultInWords: 'required' },
  ),
  expires: optional(
    text(
      'a date (2027-06-30) or a moment (2027-06-30T12:00:00Z)',
      (moment) => parseExpiry(moment) !== undefined,
    ),
    'When it expires: at the end of a date, in local time, or at a moment.',
    { defaultInWords: 'does not expire' },
  ),
  addresses: clientsRow,
};

function whyContradictory({ digest, key_file: file }: Readonly<Record<string, unknown>>): string | undefined {
  if (digest !== undefined && file !== undefined)
    return 'digest and key_file contradict each other; leave one out';
  return digest === undefined && file === undefined
    ? 'expected the key digest, as "hostwire pair" prints it, or key_file'
    : undefined;
}

export const KEY_ROWS = {
  keys: namedRow(
    {
      keys: KEY_KEYS,
      required: 'scopes',
      requires: 'a list of scopes',
      names: {
        isRight: (name) => isId(name) && name !== DEFAULT_KEY,
        words: `letters, digits, "_" or "-", other than "${DEFAULT_KEY}"`,
      },
      mayBeSecret: true,
      check: whyContradictory,
    },
    'a map of names to {digest, key_file, scopes, expires, addresses}',
    'Further keys, each with what it may do (docs/keys.md).',
  ),
  keys_folder: optional(
    text('the path of a folder', isFileName),
    'A folder with a file per key, which `hostwire pair` writes: `NAME.yaml`, `.yml` or `.json` with the keys of an entry. A relative path starts at the folder of the file that names it.',
  ),
  guests: optional<readonly Scope[]>(
    SCOPE_LIST,
    'The scopes of clients without a key, where the other rules admit them; `[]`: none (docs/keys.md).',
    { defaultInWords: 'everything' },
  ),
};
