/** Finds the limits in the sources: constants by their names, `max…` of options, and keys of the configuration. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '../../../..');

export interface Found {
  /** Below src/. */
  readonly file: string;
  readonly name: string;
  /** A number where it can be computed from its own file, otherwise the expression. */
  readonly value: number | string;
}

/** Names that stand for a limit, where their value is a number or an object of numbers. */
const NAME =
  /^MAX_|(?:^|_)LIMITS?(?:_|$)|_PER_|^PER_|BURST|(?:^|_)RATE(?:_|$)|_SHARE$|^SHARE_|^MANY_|^(?:REFUSALS|ANSWERED|FIRST_LINES|FULL_BYTES|NETWORK_FACTOR)$/;
/** Units of measurement. */
const UNIT = /^(?:NS|TICKS)_PER_/;
const OPTION = /^max[A-Z]/;
const KEY = /^max_/;

type Values = Map<string, number | undefined>;

const OPERATIONS: Readonly<Partial<Record<ts.SyntaxKind, (a: number, b: number) => number>>> = {
  [ts.SyntaxKind.PlusToken]: (a, b) => a + b,
  [ts.SyntaxKind.MinusToken]: (a, b) => a - b,
  [ts.SyntaxKind.AsteriskToken]: (a, b) => a * b,
  [ts.SyntaxKind.SlashToken]: (a, b) => a / b,
  [ts.SyntaxKind.AsteriskAsteriskToken]: (a, b) => a ** b,
};

/** The number that an expression of literals and constants of its file has; undefined: none. */
function numberOf(node: ts.Expression, values: Values): number | undefined {
  if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll('_', ''));
  if (ts.isParenthesizedExpression(node)) return numberOf(node.expression, values);
  if (ts.isIdentifier(node)) return values.get(node.text);
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [numberOf(node.left, values), numberOf(node.right, values)];
  const compute = OPERATIONS[node.operatorToken.kind];
  return left === undefined || right === undefined ? undefined : compute?.(left, right);
}

/** Numbers and names of numbers, or an object of them. */
function isNumeric(node: ts.Expression): boolean {
  if (ts.isAsExpression(node)) return isNumeric(node.expression);
  if (ts.isObjectLiteralExpression(node))
    return node.properties.every((each) => ts.isPropertyAssignment(each) && isNumeric(each.initializer));
  if (ts.isBinaryExpression(node)) return isNumeric(node.left) && isNumeric(node.right);
  if (ts.isParenthesizedExpression(node)) return isNumeric(node.expression);
  return ts.isNumericLiteral(node) || (ts.isIdentifier(node) && /^[A-Z]/.test(node.text));
}

function limitsIn(file: string): readonly Found[] {
  const text = readFileSync(path.join(root, 'src', file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const values: Values = new Map();
  const found: Found[] = [];
  const add = (name: string, node: ts.Expression) =>
    found.push({ file, name, value: numberOf(node, values) ?? node.getText(source).replaceAll(/\s+/g, ' ') });
  /** It is a part of an object that is a limit as a whole. */
  const isKnown = (whole: string) => found.some(({ name }) => whole.startsWith(`${name}.`));
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      const name = node.name.text;
      values.set(name, numberOf(node.initializer, values));
      if (NAME.test(name) && !UNIT.test(name) && isNumeric(node.initializer)) add(name, node.initializer);
    } else if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) {
      const name = node.name.text;
      const whole = nameOf(node, name);
      if (OPTION.test(name) && numberOf(node.initializer, new Map()) !== undefined && !isKnown(whole))
        add(whole, node.initializer);
      if (KEY.test(name) && file.startsWith('config/') && ts.isCallExpression(node.initializer))
        found.push({ file, name, value: 'configured' });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** `QUESTIONS.maxRunning`: with the constant whose option it is. */
function nameOf(node: ts.PropertyAssignment, name: string): string {
  let above: ts.Node = node.parent;
  while (ts.isObjectLiteralExpression(above) || ts.isPropertyAssignment(above) || ts.isAsExpression(above))
    above = above.parent;
  return ts.isVariableDeclaration(above) && ts.isIdentifier(above.name) ? `${above.name.text}.${name}` : name;
}

/** All limits of src/, in the order of their files. */
export function findLimits(): readonly Found[] {
  return readdirSync(path.join(root, 'src'), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .flatMap((file) => limitsIn(file.split(path.sep).join('/')));
}
