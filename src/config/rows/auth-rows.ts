/** The rows of `auth`. */
import { parseExpiry } from '../../access/expiry.ts';
import { DEFAULT_KEY, isDigest } from '../../access/key.ts';
import { SCOPES, type Scope } from '../../scopes.ts';
import { isArgument, isFileName, isId, isPrintable, SCOPE_LIST, some, text } from './forms.ts';
import {
  addressesRow,
  booleanRow,
  clientsRow,
  type Entry,
  namedRow,
  optional,
  row,
  secretRow,
} from './row.ts';

const API_KEY = text(
  '1 to 1024 printable ASCII characters without a space at either end',
  (key) => key.length <= 1024 && isPrintable(key),
);
const ADDRESSES = 'a list of addresses or CIDR ranges, in quotes';

function whyContradictory({ digest, key_file: file }: Entry): string | undefined {
  if (digest !== undefined && file !== undefined)
    return 'digest and key_file contradict each other; leave one out';
  return digest === undefined && file === undefined
    ? 'expected the key digest, as "hostwire pair" prints it, or key_file'
    : undefined;
}

export const AUTH_ROWS = {
  enabled: booleanRow(false, 'Turns the key and the allow list on.'),
  api_key: optional(
    API_KEY,
    'The shared key. Under 32 characters gets a warning; `hostwire keygen` makes one.',
    { isSecret: true },
  ),
  api_key_file: optional(
    text('the path of a file that holds the key', (path) => path !== '' && isArgument(path)),
    'A file that holds the key, instead of `api_key`.',
    { file: 'shared key', sets: 'auth.api_key', mayBeSecret: true },
  ),
  keys: namedRow(
    {
      keys: {
        digest: optional(
          text('a digest, sha256/BASE64', isDigest),
          "The SHA-256 of the key's bytes, as `hostwire pair` prints it.",
          // It may be the key itself.
          { defaultInWords: 'required, or `key_file`', mayBeSecret: true },
        ),
        key_file: secretRow(
          'long key',
          'key',
          'A file that holds the key, instead of `digest`; at least 32 characters.',
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
      },
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
  allowed_ips: addressesRow(
    'a list of addresses, CIDR ranges or "*", in quotes',
    'Addresses that may connect while auth is on. A match with an address or a range skips the key; a match with `*` does not. Empty: no allow list.',
    true,
  ),
  blocked_ips: addressesRow(ADDRESSES, 'Addresses that are always refused, also with auth off.'),
  refuse_forwarded: booleanRow(
    true,
    'A forwarded request from a peer that is not a trusted proxy needs the key even if the allow list names the peer.',
  ),
};
