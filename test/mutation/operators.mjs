// Finds every small change to a TypeScript source that a test should notice.
import ts from 'typescript';

const BINARY = new Map([
  ['===', ['!==']],
  ['!==', ['===']],
  ['<', ['<=', '>=']],
  ['<=', ['<', '>']],
  ['>', ['>=', '<=']],
  ['>=', ['>', '<']],
  ['&&', ['||']],
  ['||', ['&&']],
  ['??', ['&&']],
  ['+', ['-']],
  ['-', ['+']],
  ['*', ['/']],
  ['/', ['*']],
  ['%', ['*']],
  ['<<', ['>>']],
  ['>>', ['<<']],
  ['>>>', ['<<']],
  ['&', ['|']],
  ['|', ['&']],
  ['^', ['&']],
  ['+=', ['-=']],
  ['-=', ['+=']],
  ['||=', ['&&=']],
  ['??=', ['=']],
  ['in', []],
]);

// Each method and its opposite; an empty string removes the call and keeps the object.
const METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
  ['toLowerCase', 'toUpperCase'],
  ['toUpperCase', 'toLowerCase'],
  ['min', 'max'],
  ['max', 'min'],
  ['trim', ''],
  ['reverse', ''],
  ['sort', ''],
  ['filter', ''],
]);

const LOOPS_AND_BRANCHES = new Set([
  ts.SyntaxKind.IfStatement,
  ts.SyntaxKind.WhileStatement,
  ts.SyntaxKind.DoStatement,
  ts.SyntaxKind.ConditionalExpression,
]);

function literalChanges(node) {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [['literal', node, 'false']];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [['literal', node, 'true']];
  if (ts.isNumericLiteral(node)) {
    const value = Number(node.text.replaceAll('_', ''));
    return [
      ['literal', node, `${value + 1}`],
      ['literal', node, value === 0 ? '(-1)' : `${value - 1}`],
    ];
  }
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
    return [['literal', node, node.text === '' ? "'mutant'" : "''"]];
  }
  if (ts.isTemplateExpression(node)) return [['literal', node, "''"]];
  return [];
}

function expressionChanges(node, source) {
  const text = (part) => part.getText(source);
  if (ts.isBinaryExpression(node)) {
    const changes = BINARY.get(text(node.operatorToken)) ?? [];
    return changes.map((operator) => ['operator', node.operatorToken, operator]);
  }
  if (ts.isPrefixUnaryExpression(node)) {
    if (node.operator === ts.SyntaxKind.PlusPlusToken) return [['operator', node, `--${text(node.operand)}`]];
    if (node.operator === ts.SyntaxKind.MinusMinusToken)
      return [['operator', node, `++${text(node.operand)}`]];
    return [['operator', node, `(${text(node.operand)})`]];
  }
  if (ts.isPostfixUnaryExpression(node)) {
    const operator = node.operator === ts.SyntaxKind.PlusPlusToken ? '--' : '++';
    return [['operator', node, `${text(node.operand)}${operator}`]];
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const other = METHODS.get(node.expression.name.text);
    if (other === '') return [['method', node, text(node.expression.expression)]];
    return other === undefined ? [] : [['method', node.expression.name, other]];
  }
  if (ts.isArrayLiteralExpression(node)) {
    return node.elements.map((dropped) => [
      'element',
      node,
      `[${node.elements
        .filter((element) => element !== dropped)
        .map(text)
        .join(', ')}]`,
      text(dropped),
    ]);
  }
  return [];
}

function regexChanges(node) {
  if (node.kind !== ts.SyntaxKind.RegularExpressionLiteral) return [];
  const end = node.text.lastIndexOf('/');
  const [pattern, flags] = [node.text.slice(1, end), node.text.slice(end + 1)];
  const changed = [];
  if (pattern.startsWith('^')) changed.push([pattern.slice(1), flags]);
  if (pattern.endsWith('$')) changed.push([pattern.slice(0, -1), flags]);
  for (const flag of flags) changed.push([pattern, flags.replace(flag, '')]);
  // A repetition or an optional part becomes exactly one.
  for (const found of pattern.matchAll(/(?<=[\])a-z.])(?:[+*?]|\{[\d,]+\})/g)) {
    changed.push([pattern.slice(0, found.index) + pattern.slice(found.index + found[0].length), flags]);
  }
  return changed.map(([body, rest]) => ['regexp', node, `/${body}/${rest}`]);
}

function statementChanges(node, source) {
  const changes = [];
  const condition = LOOPS_AND_BRANCHES.has(node.kind) ? (node.expression ?? node.condition) : undefined;
  const test = condition ?? (ts.isForStatement(node) ? node.condition : undefined);
  if (test !== undefined) {
    changes.push(['condition', test, `!(${test.getText(source)})`], ['condition', test, 'false']);
    if (!ts.isIterationStatement(node, false)) changes.push(['condition', test, 'true']);
  }
  if (ts.isExpressionStatement(node) || ts.isBreakOrContinueStatement(node) || ts.isThrowStatement(node)) {
    changes.push(['statement', node, ';']);
  }
  if (
    ts.isReturnStatement(node) &&
    node.expression !== undefined &&
    node.expression.getText(source) !== 'undefined'
  ) {
    changes.push(['return', node, 'return undefined;']);
  }
  if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined && ts.isBlock(node.body)) {
    const [first] = node.body.statements;
    // A body with a single return is covered by the change above.
    if (first !== undefined && !ts.isReturnStatement(first) && !ts.isConstructorDeclaration(node)) {
      changes.push(['function', node.body, '{ return undefined; }']);
    }
  }
  return changes;
}

function isNoCode(node) {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node)
  );
}

/**
 * Every mutant of one source: its start and end in the text, the replacement, and its line (from 1).
 * @returns {{ operator: string, start: number, end: number, replacement: string, line: number, original: string }[]}
 */
export function findMutants(fileName, text) {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.ES2022, true);
  const mutants = [];
  const visit = (node) => {
    if (isNoCode(node)) return;
    const changes = [
      ...literalChanges(node),
      ...expressionChanges(node, source),
      ...regexChanges(node),
      ...statementChanges(node, source),
    ];
    for (const [operator, target, replacement, original] of changes) {
      const start = target.getStart(source);
      mutants.push({
        operator,
        start,
        end: target.getEnd(),
        replacement,
        line: source.getLineAndCharacterOfPosition(start).line + 1,
        original: original === undefined ? target.getText(source) : `without ${original}`,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}

export function applyMutant(text, { start, end, replacement }) {
  return text.slice(0, start) + replacement + text.slice(end);
}
