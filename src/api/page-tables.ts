/** Tables of fields for docs/api.md, made from JSON Schema: one row per field, nested objects with dots. */
import { isObject } from '../json.ts';
import { UNIT_KEY } from '../wire/meaning.ts';
import type { Json } from './schemas.ts';

interface Field {
  /** `swap.total`, `disks[].fs`; with `?` if it may be absent. */
  readonly name: string;
  /** With its unit. */
  readonly type: string;
  readonly meaning: string;
}

const partsOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

const code = (value: unknown) => `\`${String(value)}\``;

/** The heading of a component has this anchor. */
export const linkTo = (name: string) => `[${name}](#${name.toLowerCase()})`;

const nameIn = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);

/** Returns the schema without null; unchanged if it is not a choice with null. */
function unwrapped(schema: Json): { readonly schema: Json; readonly isNullable: boolean } {
  const choices = partsOf(schema['anyOf']);
  const others = choices.filter(({ type }) => type !== 'null');
  const [only] = others;
  if (others.length === choices.length || only === undefined) return { schema, isNullable: false };
  return { schema: others.length === 1 ? only : { anyOf: others }, isNullable: true };
}

/** Returns the type in words: `number or null`, `array of [Disk](#disk)`. */
export function typeOf(whole: Json): string {
  const { schema, isNullable } = unwrapped(whole);
  return isNullable ? `${plainTypeOf(schema)} or null` : plainTypeOf(schema);
}

function plainTypeOf(schema: Json): string {
  const { $ref, anyOf, const: constant, enum: values, type, items, prefixItems, maxItems } = schema;
  if (typeof $ref === 'string') return linkTo(nameIn($ref));
  if (Array.isArray(anyOf)) return partsOf(anyOf).map(typeOf).join(' or ');
  if (constant !== undefined) return code(constant);
  if (Array.isArray(values)) return values.map(code).join(', ');
  if (Array.isArray(prefixItems)) return `array of ${prefixItems.length} numbers`;
  if (type === 'array' && isObject(items)) {
    const entry = typeOf(items);
    const most = maxItems === undefined ? '' : `at most ${maxItems} `;
    return `array of ${most}${entry.includes(' or ') ? `(${entry})` : entry}`;
  }
  if (typeof type !== 'string') return 'any';
  const { minimum, maximum } = schema;
  return maximum === undefined ? type : `${type} (${minimum} to ${maximum})`;
}

/** Returns the type, with the unit of a number: `number or null, %`. */
export function quantityOf(schema: Json): string {
  const unit = findText(schema, UNIT_KEY);
  return unit === '' ? typeOf(schema) : `${typeOf(schema)}, ${unit}`;
}

/** Returns the first string under `key` on the way to the content of an array or a choice with null. */
function findText(whole: Json, key: string): string {
  const text = whole[key];
  if (typeof text === 'string') return text;
  const { schema } = unwrapped(whole);
  if (schema !== whole) return findText(schema, key);
  return isObject(schema['items']) ? findText(schema['items'], key) : '';
}

/** Returns the fields of the object below a field that has no table of its own, with their names. */
function nestedIn(whole: Json, name: string): readonly Field[] {
  const { schema } = unwrapped(whole);
  if (isObject(schema['properties'])) return fieldsOf(schema, `${name}.`);
  return isObject(schema['items']) ? nestedIn(schema['items'], `${name}[]`) : [];
}

function fieldsOf(schema: Json, prefix = ''): readonly Field[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).flatMap(([key, property]) => {
    if (!isObject(property)) return [];
    const isOptional = !required.includes(key);
    const field = {
      name: `${code(prefix + key)}${isOptional ? '?' : ''}`,
      type: quantityOf(property),
      meaning: `${findText(property, 'description')}${defaultOf(property)}`,
    };
    return [field, ...nestedIn(property, `${prefix}${key}`)];
  });
}

export function defaultOf({ default: value }: Json): string {
  return value === undefined || value === '' || isObject(value) || Array.isArray(value)
    ? ''
    : ` Default: ${code(value)}.`;
}

/** Returns a Markdown table; a column that is empty in all rows is left out. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const used = head.map((_, column) => rows.some((row) => row[column] !== ''));
  const line = (cells: readonly string[]) =>
    `| ${cells
      .filter((_, column) => used[column])
      .map((cell) => cell.replaceAll('|', '\\|'))
      .join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(used.filter(Boolean).length)}`, ...rows.map(line)].join('\n');
}

const fieldTable = (schema: Json) =>
  tableOf(
    ['field', 'type', 'meaning'],
    fieldsOf(schema).map(({ name, type, meaning }) => [name, type, meaning]),
  );

/** Returns the fields of an object, or of each object that it may be. */
export function tablesOf(schema: Json): string {
  const variants = partsOf(schema['oneOf']);
  if (!isObject(schema['properties'])) {
    if (variants.length === 0) return `A value: ${typeOf(schema)}.`;
    return ['One of these:', ...variants.map(fieldTable)].join('\n\n');
  }
  const needs = variants.flatMap(({ required }) => (Array.isArray(required) ? required.map(code) : []));
  const table = fieldTable(schema);
  return needs.length === 0 ? table : `${table}\n\nExactly one of ${needs.join(' and ')} is required.`;
}
