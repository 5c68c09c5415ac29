/** The API documents, as they were written when the service was built. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ServiceError } from '../../errors.ts';
import { taggedJson } from '../../http/etag.ts';
import type { Run } from '../../http/routes.ts';
import { PROGRAM_URL } from '../../program-url.ts';

/** The request header with the ETag of the document that a client has. */
export const DOCUMENT_HEADERS: readonly string[] = ['if-none-match'];

/** Answers with a document of this name. */
export function runOf(name: string): Run {
  // Kept from the first request on: most services never get one.
  let stored: Awaited<ReturnType<typeof readDocument>> | undefined;
  return async (request) => {
    stored ??= await readDocument(name);
    return taggedJson(stored.bytes, stored.tag, request);
  };
}

/** Returns its bytes, and a strong ETag. */
async function readDocument(name: string) {
  try {
    const bytes = await readFile(new URL(`api/${name}.json`, PROGRAM_URL));
    return { bytes, tag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"` };
  } catch {
    throw new ServiceError('not_found', 'This service was built without its API documents.');
  }
}
