/** Writes the API documents beside itself, when the service is built; nothing of this room runs in the service. */
import { readFileSync, writeFileSync } from 'node:fs';
import { asyncapiDocument } from './asyncapi.ts';
import { openapiDocument } from './openapi.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

for (const [name, document] of [
  ['openapi', openapiDocument(version)],
  ['asyncapi', asyncapiDocument(version)],
] as const)
  writeFileSync(new URL(`${name}.json`, import.meta.url), JSON.stringify(document));
