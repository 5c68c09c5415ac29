/** The generated parts of docs/api.md: endpoints, payloads, errors, examples. scripts/api-doc.mjs writes them. */
import { STATUS_BY_CODE } from '../errors.ts';
import { errorPayload } from '../wire/errors.ts';
import { ERROR_MEANINGS } from './error-meanings.ts';
import { DOCUMENTED, type DocumentedOperation, templateOf } from './operations.ts';
import { defaultOf, linkTo, quantityOf, tableOf, tablesOf, typeOf } from './page-tables.ts';
import { parametersOf } from './parameters.ts';
import { type Json, type SchemaWriter, schemaWriter } from './schemas.ts';

const BASE = 'http://localhost:9990';

const titleOf = ({ method, path }: DocumentedOperation) => `${method} ${templateOf(path)}`;

/** Returns the anchor that GitHub makes of a heading. */
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const flagOf = ({ feature }: DocumentedOperation) => (feature === undefined ? '' : `\`features.${feature}\``);

/** Returns the command line that sends the operation's example. */
export function curlOf({ method, path, example = {} }: DocumentedOperation): string {
  const { target = path, body, options } = example;
  const url = `${BASE}${target}`;
  return [
    'curl',
    ...(options === undefined ? [] : [options]),
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    /[?&]/.test(url) ? `'${url}'` : url,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`]),
  ].join(' ');
}

/** Returns the properties of a payload without a name; none if it is referred to by name. */
const propertiesOf = (schema: Json) =>
  Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Json>>);

const isConstant = (schema: Json) =>
  propertiesOf(schema).every(([, { const: value }]) => value !== undefined);

/** Describes a payload in a sentence: its name with a link, or the JSON itself if every key has one value only. */
function payloadIn(schema: Json): string {
  const properties = propertiesOf(schema);
  if (properties.length === 0 || !isConstant(schema)) return typeOf(schema);
  return `\`${JSON.stringify(Object.fromEntries(properties.map(([key, { const: value }]) => [key, value])))}\``;
}

/** Returns the tables of payloads without a name, which have no section of their own. */
const ownTables = ({ payloads }: DocumentedOperation, { write }: SchemaWriter): readonly string[] =>
  payloads
    .map(write)
    .filter((schema) => !isConstant(schema))
    .map(tablesOf);

function answerOf(operation: DocumentedOperation, { write }: SchemaWriter): string {
  const { payloads, imageTypes, textTypes, isStream, isUpgrade, headers = [] } = operation;
  const [first, second] = payloads.map((schema) => payloadIn(write(schema)));
  if (isUpgrade) return 'Answer: 101 and a WebSocket.';
  const payload = (imageTypes ?? textTypes)?.join(', ') ?? first ?? 'a JSON document';
  const detailed = second === undefined ? '' : `, with \`detail=1\` ${second}`;
  const named = headers.length === 0 ? '' : `; header ${headers.map((name) => `\`${name}\``).join(', ')}`;
  return `Answer: ${isStream ? 'events with ' : ''}${payload}${detailed}${named}.`;
}

function parameterTable(operation: DocumentedOperation, writer: SchemaWriter): string {
  const rows = parametersOf(operation, writer).map(({ name, description, schema }) => [
    `\`${name}\``,
    quantityOf(schema),
    `${description}${defaultOf(schema)}`,
  ]);
  return rows.length === 0 ? '' : tableOf(['parameter', 'type', 'meaning'], rows);
}

function endpointOf(operation: DocumentedOperation, writer: SchemaWriter): string {
  const { summary, description, isExperimental, isPublic, scope, bodySchema, errors } = operation;
  const flag = flagOf(operation);
  const facts = [
    `${summary}.`,
    ...(description === undefined ? [] : [description]),
    ...(isExperimental ? ['Experimental.'] : []),
    ...(isPublic ? ['Needs no key.'] : []),
    ...(flag === '' ? [] : [`Needs ${flag}.`]),
    ...(scope === undefined ? [] : [`Scope: \`${scope}\`.`]),
  ];
  const exchange = [
    ...(bodySchema === undefined ? [] : [`Body: ${payloadIn(writer.write(bodySchema))}.`]),
    answerOf(operation, writer),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.map((code) => `\`${code}\``).join(', ')}.`]),
  ];
  return [
    `### \`${titleOf(operation)}\``,
    facts.join(' '),
    parameterTable(operation, writer),
    exchange.join(' '),
    ...ownTables(operation, writer),
    `\`\`\`sh\n${curlOf(operation)}\n\`\`\``,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function overview(): string {
  const rows = DOCUMENTED.map((operation) => [
    `[\`${titleOf(operation)}\`](#${anchorOf(titleOf(operation))})`,
    operation.summary + (operation.isExperimental ? ' (experimental)' : ''),
  ]);
  return tableOf(['operation', 'purpose'], rows);
}

function errorTable(): string {
  const rows = Object.entries(STATUS_BY_CODE).map(([code, status]) => [
    String(status),
    `\`${code}\``,
    // The table's own keys are exactly the codes.
    ERROR_MEANINGS[code as keyof typeof STATUS_BY_CODE],
  ]);
  return tableOf(['status', 'code', 'meaning'], rows);
}

const block = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

/** Returns the parts by the name of the marker. `samples`: a real payload by the name of its component. */
export function pageParts(samples: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const writer = schemaWriter(true);
  const endpoints = DOCUMENTED.map((operation) => endpointOf(operation, writer));
  // The body of every error: no operation names it.
  writer.write(errorPayload);
  return {
    endpoints: [overview(), ...endpoints].join('\n\n'),
    payloads: Object.entries(writer.used())
      .map(([name, schema]) => `### ${name}\n\n${tablesOf(schema as Json)}`)
      .join('\n\n'),
    errors: errorTable(),
    examples: Object.entries(samples)
      .map(([name, sample]) => `A complete ${linkTo(name)}:\n\n${block(sample)}`)
      .join('\n\n'),
  };
}
