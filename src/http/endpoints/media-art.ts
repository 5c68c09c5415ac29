/** The cover of the track, where it is a file of this machine: the dashboard must not fetch it from another server. */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Media } from '../../commands/media.ts';
import { ServiceError } from '../../errors.ts';
import { checkParams } from '../../params.ts';
import { mediaParams } from '../../wire/requests.ts';
import { statusLine } from '../reply.ts';
import type { Runs } from '../routes.ts';
import type { Answer } from '../uws/head.ts';

/** Covers usually have a few hundred kilobytes. */
export const MAX_ART_BYTES = 1024 * 1024;
/** A file may be on a server that no longer answers. */
const READ_LIMIT_MS = 1500;

interface Picture {
  readonly type: string;
  readonly bytes: Buffer;
}

/** The type by the first bytes. Any other file is not sent, whatever its name. */
function typeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined;
}

async function readPicture(file: string): Promise<Picture | undefined> {
  // Before it is opened: opening a device may have an effect.
  const before = await stat(file);
  if (!before.isFile() || before.size > MAX_ART_BYTES) return undefined;
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = await handle.stat();
    if (!opened.isFile() || opened.size > MAX_ART_BYTES) return undefined;
    const buffer = Buffer.alloc(opened.size);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const type = typeOf(bytes);
    return type === undefined ? undefined : { type, bytes };
  } finally {
    await handle.close();
  }
}

/** The path in `url`; undefined unless it is a file of this machine. */
function fileOf(url: string | null): string | undefined {
  try {
    return url?.startsWith('file:') ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

export interface MediaArtRooms {
  readonly media: Pick<Media, 'status'>;
  /** For tests. */
  readonly read?: (file: string) => Promise<Picture | undefined>;
}

export function mediaArtRuns({ media, read = readPicture }: MediaArtRooms): Runs<'getMediaArt'> {
  // One at a time: a server that no longer answers then holds one thread of libuv's pool, and not all four.
  let reading: Promise<Picture | undefined> | undefined;
  const readAlone = (file: string) => {
    if (reading !== undefined) throw new ServiceError('not_possible_now', 'Another picture is being read.');
    const begun = read(file).catch(() => undefined);
    reading = begun;
    void begun.then(() => {
      reading = undefined;
    });
    return within(begun);
  };
  return {
    async getMediaArt({ query, headers }) {
      const { player } = checkParams(mediaParams, { player: query.get('player') ?? undefined });
      const status = await media.status(player, true);
      const file = fileOf('art_url' in status ? status.art_url : null);
      const picture = file === undefined ? undefined : await readAlone(file);
      if (picture === undefined)
        throw new ServiceError('not_found', 'The track has no picture on this machine.');
      return pictureAnswer(picture, headers);
    },
  };
}

async function within<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new ServiceError('not_possible_now', 'The picture could not be read in time.');
    timer = setTimeout(() => reject(error), READ_LIMIT_MS);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function pictureAnswer({ type, bytes }: Picture, headers: Answer['headers']): Answer {
  return {
    status: statusLine(200),
    headers: [
      ['Content-Type', type],
      ['Cache-Control', 'no-store'],
      ['Content-Security-Policy', "default-src 'none'; sandbox"],
      ...headers,
    ],
    body: bytes,
  };
}
