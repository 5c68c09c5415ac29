/** The API documents, as they were written when the service was built. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ServiceError } from '../../errors.ts';
import { taggedJson } from '../../http/etag.ts';
import type { Run } from '../../http/routes.ts';
import { PROGRAM_URL } from '../../program-url.ts';

interface StoredDocument {
  readonly bytes: Buffer;
  /** A strong ETag. */
  readonly tag: string;
}

/** The request header with the ETag of the document that a client has. */
export const DOCUMENT_HEADERS: readonly string[] = ['if-none-match'];

/** Answers with a document of this name. */
export function runOf(name: string): Run {
  // Kept from the first request on: most services never get one.
  let stored: Promise<StoredDocument> | undefined;
  const read = () => {
    stored ??= readDocument(name).catch((error: unknown) => {
      stored = undefined;
      throw error;
    });
    return stored;
  };
  return async (request) => {
    const { bytes, tag } = await read();
    return taggedJson(bytes, tag, request);
  };
}

async function readDocument(name: string): Promise<StoredDocument> {
  try {
    const bytes = await readFile(new URL(`api/${name}.json`, PROGRAM_URL));
    return { bytes, tag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"` };
  } catch {
    throw new ServiceError('not_found', 'This service was built without its API documents.');
  }
}
