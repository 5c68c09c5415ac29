/**
 * Home Assistant's treatment of a document and of messages, by its documentation: the documents it accepts (schemas/),
 * how it renders templates (templates.py, in Jinja itself), and the states that result.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

const FOLDER = path.resolve(import.meta.dirname, '../../../../../test/exporters/mqtt');
const JINJA = '/usr/lib/python3/dist-packages/jinja2/__init__.py';

/** Why templates cannot be rendered here; false if they can. */
export const whyNoJinja: string | false = (() => {
  try {
    readFileSync(JINJA);
    return false;
  } catch {
    return 'python3-jinja2 is not installed (scripts/needs.mjs)';
  }
})();

export type Component = Readonly<Record<string, unknown>> & { readonly platform: string };

export interface Document {
  readonly device: Readonly<Record<string, unknown>>;
  readonly components: Readonly<Record<string, Component>>;
}

const readJson = (name: string) => JSON.parse(readFileSync(path.join(FOLDER, 'schemas', name), 'utf8'));

const ajv = new Ajv2020({ strict: false, allErrors: true });
for (const name of readdirSync(path.join(FOLDER, 'schemas')))
  if (name !== 'classes.json') ajv.addSchema(readJson(name));

interface ClassRules {
  readonly units: readonly string[];
  readonly states: readonly string[];
}
const CLASSES: Readonly<Record<string, ClassRules>> = readJson('classes.json');

/** Returns the faults of one component. */
function faultsOf(id: string, component: Component): readonly string[] {
  if (Object.keys(component).length === 1) return [];
  const faults: string[] = [];
  if (!ajv.validate(component.platform, component)) faults.push(ajv.errorsText());
  const { device_class, unit_of_measurement, state_class, icon, min, max } = component;
  if (component.platform === 'sensor' || component.platform === 'number') {
    const rules = CLASSES[String(device_class)];
    if (device_class !== undefined && rules === undefined) faults.push(`no device class ${device_class}`);
    const units = rules?.units ?? [];
    if (rules !== undefined && (units.length === 0) !== (unit_of_measurement === undefined))
      faults.push(`${device_class} and a unit: ${unit_of_measurement}`);
    if (units.length > 0 && !units.includes(String(unit_of_measurement)))
      faults.push(`${unit_of_measurement} is no unit of ${device_class}`);
    if (rules !== undefined && state_class !== undefined && !rules.states.includes(String(state_class)))
      faults.push(`${state_class} is no state class of ${device_class}`);
    if (state_class === undefined && unit_of_measurement !== undefined && component.platform === 'sensor')
      faults.push('a number without statistics');
  }
  if (icon !== undefined && device_class !== undefined) faults.push('an icon beside a device class');
  if (typeof min === 'number' && typeof max === 'number' && min >= max) faults.push('min above max');
  return faults.map((fault) => `${id}: ${fault}`);
}

/** Returns what Home Assistant would refuse or ignore of a document, and what our own rules forbid. */
export function faultsIn(document: Document): readonly string[] {
  const components = Object.entries(document.components);
  const ids = components.flatMap(([, { unique_id }]) => (unique_id === undefined ? [] : [unique_id]));
  return [
    ...(ajv.validate('device', document) ? [] : [ajv.errorsText()]),
    ...components.flatMap(([id, component]) => faultsOf(id, component)),
    ...(new Set(ids).size === ids.length ? [] : ['a unique_id twice']),
  ];
}

export type Rendering =
  | { readonly template: string; readonly message: string }
  | { readonly template: string; readonly value: unknown };

/** All of `asked`, rendered by one process. */
export function render(asked: readonly Rendering[]): readonly string[] {
  const input = JSON.stringify(asked);
  const maxBuffer = 64 * 1024 * 1024;
  return JSON.parse(
    execFileSync('python3', [path.join(FOLDER, 'templates.py')], { input, maxBuffer, encoding: 'utf8' }),
  );
}

/** The text that a template which knows nothing makes: the state is then unknown. */
export const UNKNOWN = 'None';

/** Why Home Assistant would not take `text` as the state of `component`; undefined: it does. */
export function whyNoState(component: Component, text: string): string | undefined {
  const { platform, device_class, state_class, unit_of_measurement, options, payload_on, payload_off } =
    component;
  if (text === '') return 'empty: the last state would stay';
  if (text === UNKNOWN) return undefined;
  if (text.length > 255) return 'too long';
  const oneOf = (...allowed: readonly unknown[]) =>
    allowed.includes(text) ? undefined : `${text} is none of ${allowed.join()}`;
  if (platform === 'binary_sensor') return oneOf(payload_on, payload_off);
  if (platform === 'switch') return oneOf(component['state_on'], component['state_off']);
  if (Array.isArray(options)) return oneOf(...options);
  if (device_class === 'timestamp')
    return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? undefined : `${text} is no time`;
  const isNumber = platform === 'number' || state_class !== undefined || unit_of_measurement !== undefined;
  if (!isNumber) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return `${text} is no number`;
  const { min = -Infinity, max = Infinity } = component as { min?: number; max?: number };
  return value < min || value > max ? `${text} is out of range` : undefined;
}
