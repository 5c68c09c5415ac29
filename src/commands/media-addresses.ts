/** The addresses that players report, of covers and of tracks. Pure. Players are other programs: any text is possible. */
import type { MediaPlayer } from '../host/media.ts';

const FILE_SCHEME = /^file:(?:\/\/(?:localhost)?)?(?=\/(?!\/))/i;
const SERVER = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;
const ENCODED = /(?:%(?!2f|00)[\da-f]{2})+/gi;
/** At least one letter: the 5 of "Part 1.5" is not an extension. */
const EXTENSION = /(?<=.)\.(?=\d*[a-z])[a-z\d]{2,5}$/i;

/** Decodes what is percent-encoded; what is not valid stays as it is, and so does an encoded slash. */
function decoded(text: string): string {
  return text.replace(ENCODED, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}

const withoutQuery = (path: string): string => path.split(/[?#]/, 1)[0] ?? '';

/** The path in an address of this machine's files, as it is written there. */
function pathIn(address: string): string | undefined {
  const path = address.replace(FILE_SCHEME, '');
  return path.startsWith('/') && !path.startsWith('//') ? path : undefined;
}

/**
 * The files of this machine that `address` may mean, the likeliest first. Not every player escapes `#`, `?` and `%` in
 * a file's name, and some give a path in place of an address.
 */
export function filesNamed(address: string): readonly string[] {
  const path = pathIn(address);
  if (path === undefined) return [];
  if (path === address) return [path];
  return [...new Set([decoded(path), decoded(withoutQuery(path)), path])];
}

/** The base64 in a data: URI (RFC 2397); undefined for any other address. */
function base64In(address: string): string | undefined {
  const comma = address.indexOf(',');
  const head = address.slice(0, Math.max(comma, 0)).toLowerCase();
  return head.startsWith('data:') && head.endsWith(';base64') ? address.slice(comma + 1) : undefined;
}

/** The bytes in a data: URI in base64; undefined for any other address. */
export function bytesIn(address: string): Buffer | undefined {
  const base64 = base64In(address);
  // Its slash may be encoded, too.
  return base64 === undefined ? undefined : Buffer.from(decoded(base64).replaceAll(/%2f/gi, '/'), 'base64');
}

/** Whether the address of the cover leads to a file of this machine, or contains the picture. */
export function hasPicture({ artUrl, isArtLong }: Pick<MediaPlayer, 'artUrl' | 'isArtLong'>): boolean {
  if (isArtLong || artUrl === null) return isArtLong;
  return filesNamed(artUrl).length > 0 || base64In(artUrl) !== undefined;
}

/** The name of what `url` leads to, without its extension; empty where it has none. */
export function titleIn(url: string): string {
  const path = pathIn(url) ?? (SERVER.test(url) ? withoutQuery(url.replace(SERVER, '')) : '');
  return decoded(path.slice(path.lastIndexOf('/') + 1)).replace(EXTENSION, '');
}
