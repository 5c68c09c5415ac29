/**
 * An independent, strict reading of request bytes (RFC 9112): which requests are in them, and which of these may be
 * answered with a success. It shares no code with the service.
 *
 * Not judged, each for a reason: the contents of a query (any byte above a space), more than one Host (the web guard's
 * to refuse), a DEL in a header's value (RFC 9110, 5.5 lets it pass), and a chunked body (its connection ends with the answer, so that nothing behind it counts).
 */
import { DIFFERENCES } from '../helpers/service/differences.ts';

export interface JudgedRequest {
  readonly method: string;
  /** The one success it may be answered with; undefined: none. */
  readonly success: 200 | 204 | undefined;
  /** It has nothing unusual: delivered in one piece, it must be answered. */
  readonly isPlain: boolean;
}

const GET_PATHS = new Set(['/', '/api/status', '/api/usage', '/api/system', '/api/stream']);
// Node's parser takes several blanks where one belongs, which RFC 9112, 3 allows.
const REQUEST_LINE = DIFFERENCES.servesAllForms
  ? /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) +(?:[hH][tT]{2}[pP][sS]?:\/\/([^/?#\s]*)(?=[/?]))?(\*|(?:\/|(?<=\/\/[^/?#\s]*)\?)[\x21-\xff]*) +HTTP\/1\.([01])$/
  : /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ()(\/[\x21-\xff]*) HTTP\/1\.(1)$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\xff]*)$/;
// uWebSockets.js also treats bytes above 0x7f at either end of a value as blanks.
const TRIMMED = /^[\t\x20\x80-\xff]+|[\t\x20\x80-\xff]+$/g;
const MAX_DRAINED_BYTES = 1024 * 1024;
/** A head within these limits is always read; the exact ones are 16 KiB and 100 lines. */
const PLAIN_HEAD_BYTES = 12 * 1024;
const PLAIN_HEAD_LINES = 90;

interface Head {
  readonly method: string;
  readonly path: string;
  /** HTTP/1.0: the connection ends with the answer, unless the client asks otherwise; a Host is not needed. */
  readonly isOld: boolean;
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

function readHead(text: string): Head | undefined {
  const [first = '', ...lines] = text.split('\r\n');
  const request = REQUEST_LINE.exec(first);
  if (request === null) return undefined;
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    // For uWebSockets.js a line without a name is the last one, and no callback reports it.
    if (line.startsWith(':') && !DIFFERENCES.servesAllForms) break;
    const field = FIELD.exec(line);
    if (field === null) return undefined;
    const name = (field[1] ?? '').toLowerCase();
    fields.set(name, [...(fields.get(name) ?? []), (field[2] ?? '').replace(TRIMMED, '')]);
  }
  const isOld = request[4] === '0';
  if (!fields.has('host') && !isOld) return undefined;
  // The authority of a target in absolute form is the Host.
  if (request[2]) fields.set('host', [request[2]]);
  return { method: request[1] ?? '', path: (request[3] ?? '').split('?', 1)[0] || '/', isOld, fields };
}

/** How many bytes of body follow; undefined: nothing behind this request may be read as another one. */
function bodyLength(head: Head): number | undefined | 'doubtful' {
  const lengths = head.fields.get('content-length') ?? [];
  const encodings = head.fields.get('transfer-encoding') ?? [];
  if (lengths.length > 1 || encodings.length > 1 || (lengths.length > 0 && encodings.length > 0))
    return 'doubtful';
  if (encodings.length > 0) return encodings[0]?.toLowerCase() === 'chunked' ? undefined : 'doubtful';
  if (lengths[0] !== undefined && !/^\d+$/.test(lengths[0])) return 'doubtful';
  const length = Number(lengths[0] ?? 0);
  const saysClose = head.fields.get('connection')?.some((value) => /(^|,)\s*close\s*(,|$)/i.test(value));
  const staysOpen = head.fields.get('connection')?.some((value) => /keep-alive/i.test(value));
  return length > MAX_DRAINED_BYTES || saysClose || (head.isOld && !staysOpen) ? undefined : length;
}

function successOf({ method, path }: Head): 200 | 204 | undefined {
  if (method === 'OPTIONS' && (GET_PATHS.has(path) || path === '/api/ws' || path === '*')) return 204;
  return (method === 'GET' || method === 'HEAD') && GET_PATHS.has(path) ? 200 : undefined;
}

/** The requests in `bytes`, in order, up to the first that is invalid, is incomplete or ends the connection. */
export function judge(bytes: Buffer): readonly JudgedRequest[] {
  const text = bytes.toString('latin1');
  const judged: JudgedRequest[] = [];
  for (let at = 0; ; ) {
    // RFC 9112, 2.2: empty lines before a request may be ignored.
    while (DIFFERENCES.servesAllForms && /[\r\n]/.test(text[at] ?? '')) at++;
    const end = text.indexOf('\r\n\r\n', at);
    const head = end < 0 ? undefined : readHead(text.slice(at, end));
    if (head === undefined) return judged;
    const length = bodyLength(head);
    const success = length === 'doubtful' ? undefined : successOf(head);
    const isSmall =
      end - at < PLAIN_HEAD_BYTES && text.slice(at, end).split('\r\n').length < PLAIN_HEAD_LINES;
    // Node's parser refuses bytes above 0x7e in a target.
    const isAscii = /^[\t\r\n\x20-\x7e]*$/.test(text.slice(at, end));
    const isPlain =
      isSmall &&
      (isAscii || !DIFFERENCES.servesAllForms) &&
      typeof length === 'number' &&
      `${head.fields.get('host')}` === 'localhost';
    judged.push({ method: head.method, success, isPlain });
    if (typeof length !== 'number') return judged;
    at = end + 4 + length;
  }
}
