// The types of what crosses the wire, for the client's declarations. In src/wire they are derived from schemas, so their
// declarations need valibot, which a program with the client does not have: without it all of them would be `any`.
import path from 'node:path';
import ts from 'typescript';

const { TypeFlags } = ts;

/** Returns the text of a type of JSON, reduced to its shape; everything is read-only. */
function createPrinter(checker) {
  const name = (text) => (/^[A-Za-z_$][\w$]*$/.test(text) ? text : JSON.stringify(text));
  const printUnion = (types) => {
    const texts = new Set(types.map(print));
    if (texts.delete('true') && texts.delete('false')) texts.add('boolean');
    return [...texts].map((text) => (text.startsWith('readonly ') ? `(${text})` : text)).join(' | ');
  };
  const printObject = (type) => {
    const properties = checker.getPropertiesOfType(type).map((property) => {
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      const all = checker.getTypeOfSymbol(property);
      const parts =
        all.isUnion() && isOptional ? all.types.filter((each) => !(each.flags & TypeFlags.Undefined)) : [all];
      return `readonly ${name(property.name)}${isOptional ? '?' : ''}: ${printUnion(parts)};`;
    });
    const indexes = checker
      .getIndexInfosOfType(type)
      .map((index) => `readonly [key: ${print(index.keyType)}]: ${print(index.type)};`);
    return `{ ${[...properties, ...indexes].join(' ')} }`;
  };
  function print(type) {
    if (type.flags & TypeFlags.Any) throw new Error('a type of the wire is `any`');
    if (type.flags & TypeFlags.BooleanLiteral) return type.intrinsicName;
    if (type.isUnion()) return printUnion(type.types);
    if (type.isLiteral()) return JSON.stringify(type.value);
    if (checker.isTupleType(type))
      return `readonly [${checker.getTypeArguments(type).map(print).join(', ')}]`;
    if (checker.isArrayType(type)) return `readonly (${print(checker.getTypeArguments(type)[0])})[]`;
    if (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) return printObject(type);
    return checker.typeToString(type);
  }
  return print;
}

/** Returns the parameter of a generic type as it is written, and its name: `<N extends TopicName = TopicName>`. */
function parameterOf(declaration) {
  const [parameter] = declaration.typeParameters ?? [];
  return parameter === undefined
    ? undefined
    : { node: parameter, text: parameter.getText(), name: parameter.name.text };
}

/**
 * Maps each of `files`, declarations of src/wire, to declarations of the same names that import nothing. A type with a
 * parameter becomes a lookup by its values.
 */
export function flattenTypes(files) {
  const options = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, types: [] },
  };
  // An additional file, which asks for each value of a parameter.
  const asking = path.join(path.dirname(files[0]), 'all-values.d.ts');
  const program = ts.createProgram(files, options);
  // This also gives nodes their parents, which getText needs.
  program.getTypeChecker();
  const aliases = files.map((file) => [
    file,
    program
      .getSourceFile(file)
      ?.statements.filter(
        (node) =>
          ts.isTypeAliasDeclaration(node) &&
          node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword),
      ),
  ]);
  const questions = aliases.flatMap(([file, nodes]) =>
    nodes.flatMap((node) => {
      const parameter = parameterOf(node);
      if (parameter === undefined || parameter.node.constraint === undefined) return [];
      const module = `import('./${path.basename(file).replace(/\.d\.ts$/, '.js')}')`;
      const key = `${module}.${parameter.node.constraint.getText()}`;
      return [`export type ${node.name.text} = { readonly [N in ${key}]: ${module}.${node.name.text}<N> };`];
    }),
  );
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.fileExists = (file) => file === asking || fileExists(file);
  host.readFile = (file) => (file === asking ? questions.join('\n') : readFile(file));
  host.getSourceFile = (file, ...rest) =>
    file === asking
      ? ts.createSourceFile(file, questions.join('\n'), ts.ScriptTarget.ES2022, true)
      : getSourceFile.call(host, file, ...rest);
  const whole = ts.createProgram([...files, asking], options, host);
  const checker = whole.getTypeChecker();
  const print = createPrinter(checker);
  const typesIn = (file) => whole.getSourceFile(file)?.statements.filter(ts.isTypeAliasDeclaration) ?? [];
  const byValue = new Map(typesIn(asking).map((node) => [node.name.text, node]));
  const printAlias = (node) => {
    const parameter = parameterOf(node);
    if (parameter === undefined)
      return `export type ${node.name.text} = ${print(checker.getTypeAtLocation(node.name))};`;
    const lookup = byValue.get(node.name.text);
    if (lookup === undefined) return undefined;
    const shape = print(checker.getTypeAtLocation(lookup.name));
    return `export type ${node.name.text}<${parameter.text}> = ${shape}[${parameter.name}];`;
  };
  return new Map(
    aliases.map(([file, nodes]) => {
      const names = new Set(nodes.map((node) => node.name.text));
      const texts = typesIn(file)
        .filter((node) => names.has(node.name.text))
        .map(printAlias);
      return [file, `${texts.filter((text) => text !== undefined).join('\n')}\n`];
    }),
  );
}
