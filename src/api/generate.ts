/** Writes the API documents beside the program at build time; the service itself loads nothing of this folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { PROGRAM_URL } from '../program-url.ts';
import { HUB_API, openapiDocument } from './openapi.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', PROGRAM_URL), 'utf8')) as {
  readonly version: string;
};

const folder = new URL('api/', PROGRAM_URL);
mkdirSync(folder, { recursive: true });
for (const [name, document] of [
  ['openapi', openapiDocument(version)],
  ['hub-openapi', openapiDocument(version, HUB_API)],
] as const)
  writeFileSync(new URL(`${name}.json`, folder), JSON.stringify(document));
