/** Finds every regular expression in the sources, with the parser of TypeScript. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.resolve(import.meta.dirname, '../../../..');
const TREES = ['src', 'web'];
/** Methods of strings that make a pattern of a text. */
const IMPLICIT = new Set(['match', 'matchAll', 'search']);

export interface Found {
  /** Within the repository. */
  readonly file: string;
  /** A literal such as `/a+/i`, or the whole expression that makes a pattern of a text. */
  readonly text: string;
}

/** The patterns in `text`, in their order. */
export function patternsIn(file: string, text: string): readonly Found[] {
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    if (isPattern(node)) found.push({ file, text: node.getText() });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

function isPattern(node: ts.Node): boolean {
  if (ts.isRegularExpressionLiteral(node)) return true;
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return false;
  const { expression, arguments: given } = node;
  if (/^(?:globalThis\.)?RegExp$/.test(expression.getText())) return true;
  const [first] = given ?? [];
  const isText = first !== undefined && (ts.isStringLiteralLike(first) || ts.isTemplateExpression(first));
  return isText && ts.isPropertyAccessExpression(expression) && IMPLICIT.has(expression.name.text);
}

/** Returns the patterns of the service, its programs and its pages. */
export function allPatterns(): readonly Found[] {
  return TREES.flatMap((tree) =>
    readdirSync(path.join(ROOT, tree), { recursive: true })
      .map((name) => path.posix.join(tree, String(name)))
      .filter((file) => /\.tsx?$/.test(file))
      .sort()
      .flatMap((file) => patternsIn(file, readFileSync(path.join(ROOT, file), 'utf8'))),
  );
}

/** The pattern that a literal stands for. */
export function patternOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}
