/** The OpenAPI document of all operations. */
import { errorPayload } from '../wire/errors.ts';
import type { Tag } from '../wire/operations.ts';
import { DOCUMENTED, DOCUMENTED_HUB, type DocumentedOperation, templateOf } from './operations.ts';
import { parametersOf } from './parameters.ts';
import { BARE_RESPONSES, headerComponents, responsesOf } from './responses.ts';
import { type Json, type SchemaWriter, schemaWriter } from './schemas.ts';

const ALPHA =
  'hostwire is alpha: anything may change before 1.0. The media operations are experimental, too.';

const DESCRIPTION = `${ALPHA}

Every request is checked against the block list, then (except /api/status) against the key and the allow list, then by the web guard; see docs/operating.md. HEAD works wherever GET does. Any other path is answered with 404 \`not_found\`, any other method with 405 \`method_not_allowed\` and \`Allow\`. OPTIONS is answered with 204 and \`Allow\`, or as a CORS preflight. A body may have at most 16 KiB, an ignored one 1 MiB.`;

const TAGS: Readonly<Record<Exclude<Tag, 'hosts'>, string>> = {
  stats: 'The load and the parts of the machine.',
  history: 'Past measurements, events and programs.',
  power: 'Shutting down, restarting, sleeping.',
  media: 'The current track, and control of players. Experimental.',
  processes: 'The running programs.',
  service: 'The service itself.',
};

/** The contents of a document. */
export interface Api {
  readonly title: string;
  readonly summary: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly operations: readonly DocumentedOperation[];
}

const SERVICE_API: Api = {
  title: 'hostwire (alpha)',
  summary: 'The stats of a computer, live, and control of its power, media and processes.',
  tags: TAGS,
  operations: DOCUMENTED,
};

export const HUB_API: Api = {
  title: 'hostwire hub (alpha)',
  summary: 'The stats of many computers, live.',
  tags: { hosts: 'The machines.', stats: 'The figures of the hub.', service: 'The hub itself.' },
  operations: DOCUMENTED_HUB,
};

/**
 * A key, with the scopes that it must have as roles; or none: authentication may be off, and an address may be on the allow
 * list.
 */
const securityOf = (...scopes: readonly string[]) => [{ key: scopes }, {}];

const SERVER = {
  url: 'http://{host}:{port}',
  variables: { host: { default: 'localhost' }, port: { default: '9990' } },
};

function operationOf(operation: DocumentedOperation, writer: SchemaWriter, error: Json): Json {
  const { id, tag, summary, description, isExperimental, isPublic, feature, scope, bodySchema } = operation;
  const parameters = parametersOf(operation, writer);
  return {
    operationId: id,
    tags: [tag],
    summary: isExperimental ? `${summary} (experimental)` : summary,
    ...(description === undefined ? {} : { description }),
    ...(isExperimental ? { 'x-experimental': true } : {}),
    ...(feature === undefined ? {} : { 'x-feature': `features.${feature}` }),
    ...(isPublic ? { security: [] } : {}),
    ...(scope === undefined ? {} : { security: securityOf(scope) }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(bodySchema === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: writer.write(bodySchema) } },
          },
        }),
    responses: responsesOf(operation, writer, error),
  };
}

function pathsOf(operations: Api['operations'], writer: SchemaWriter, error: Json): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const path = templateOf(operation.path);
    const written = operationOf(operation, writer, error);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: written };
  }
  return paths;
}

/** `version`: the program's. */
export function openapiDocument(version: string, api: Api = SERVICE_API): Json {
  const writer = schemaWriter();
  const error = writer.write(errorPayload);
  const paths = pathsOf(api.operations, writer, error);
  const headers = headerComponents(writer);
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version,
      summary: api.summary,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [SERVER],
    security: securityOf(),
    tags: Object.entries(api.tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: '`auth.api_key`, or one of `auth.keys` with these scopes.',
        },
      },
      headers,
      responses: BARE_RESPONSES,
      schemas: writer.used(),
    },
  };
}
