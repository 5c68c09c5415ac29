/** The OpenAPI document of everything that HTTP answers under /api. */
import { errorPayload } from '../wire/errors.ts';
import type { Operation, Tag } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { queryOf } from './parameters.ts';
import { BARE_RESPONSES, headerComponents, responsesOf } from './responses.ts';
import { type Json, type SchemaWriter, schemaWriter } from './schemas.ts';

export const ALPHA =
  'hostwire is alpha: anything may change before 1.0. The media operations are experimental beyond that.';

const DESCRIPTION = `${ALPHA}

Every request passes the block list, then (except /api/status) the key and the allow list, then the web guard; see docs/operating.md. HEAD works wherever GET does. A path that is not here is answered with 404 \`not_found\`, a method that is not here with 405 \`method_not_allowed\` and \`Allow\`. OPTIONS is answered with 204 and \`Allow\`, or as a CORS preflight. A body may have at most 16 KiB, an ignored one 1 MiB.`;

const TAGS: Readonly<Record<Tag, string>> = {
  stats: 'What the machine does.',
  power: 'Shutting down, restarting, sleeping.',
  media: 'What is playing, and control of it. Experimental.',
  processes: 'What is running.',
  service: 'The service itself.',
};

const SERVER = {
  url: 'http://{host}:{port}',
  variables: { host: { default: 'localhost' }, port: { default: '9990' } },
};

function operationOf(operation: Operation, writer: SchemaWriter, error: Json): Json {
  const { id, tag, summary, description, isExperimental, isPublic, feature, body } = operation;
  const parameters = [
    ...(operation.parameters ?? []),
    ...(operation.query === undefined ? [] : queryOf(operation.query, writer)),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary: isExperimental ? `${summary} (experimental)` : summary,
    ...(description === undefined ? {} : { description }),
    ...(isExperimental ? { 'x-experimental': true } : {}),
    ...(feature === undefined ? {} : { 'x-feature': `features.${feature}` }),
    ...(isPublic ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: writer.write(body) } } } }),
    responses: responsesOf(operation, writer, error),
  };
}

/** The route table's `*` stands for a last part that has a name here. */
export const templateOf = (path: string): string => path.replace(/\*$/, '{name}');

/** `version`: the service's. */
export function openapiDocument(version: string): Json {
  const writer = schemaWriter('draft-2020-12');
  const error = writer.write(errorPayload);
  const paths = Object.entries(OPERATIONS).map(([path, methods]) => [
    templateOf(path),
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [
        method.toLowerCase(),
        operationOf(operation, writer, error),
      ]),
    ),
  ]);
  const headers = headerComponents(writer);
  return {
    openapi: '3.1.0',
    info: {
      title: 'hostwire (alpha)',
      version,
      summary: 'The stats of a computer, live, and control of its power, media and processes.',
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [SERVER],
    // Without a key as well: authentication may be off, and an address may be on the allow list.
    security: [{ key: [] }, {}],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: '`auth.api_key`.' } },
      headers,
      responses: BARE_RESPONSES,
      schemas: writer.used(),
    },
  };
}
