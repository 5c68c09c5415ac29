/**
 * Defines "guard off". `access/web-guard.js` lets everything through. `access/origins.js` answers as a careless
 * server does: any origin may read, with credentials, and any preflight is granted. `http/head.js` leaves out what
 * forbids other sites to embed an answer. Everything else is the program as it is shipped, but run from its single
 * modules: in the bundle there are no files to replace.
 */
import type { LoadHook, ResolveHook } from 'node:module';

/** A file of the program, compiled alone. */
const moduleAt = (file: string) => new URL(`../../../src/${file}`, import.meta.url).href;

const GUARD = `export const guardWeb = () => undefined;`;

/** `shipped`: the URL of the file whose functions these are laid over. */
const careless = (shipped: string) => `
export * from ${JSON.stringify(shipped)};
const one = (request, name) => request.headers.get(name)?.[0];
const echo = (origin) => [['Access-Control-Allow-Origin', origin], ['Access-Control-Allow-Credentials', 'true'], ['Vary', 'Origin']];
export const readerOf = (listed, request) => one(request, 'origin');
export const corsHeaders = (decision) =>
  decision.isPreflight ? decision.headers : decision.corsOrigin === undefined ? [] : echo(decision.corsOrigin);
export const preflightHeaders = (listed, request) => [
  ...echo(one(request, 'origin')),
  ['Access-Control-Allow-Methods', one(request, 'access-control-request-method')],
  ['Access-Control-Allow-Headers', one(request, 'access-control-request-headers') ?? ''],
];
`;

const moduleOf = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;

/** The program's own files get the substitutes; what a substitute imports is the shipped file. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const resolved = await nextResolve(specifier, context);
  if (context.parentURL === undefined && /\/dist\/main\.js$/.test(resolved.url))
    return { ...resolved, url: moduleAt('main.js') };
  if (context.parentURL?.startsWith('data:') === true) return resolved;
  if (resolved.url === moduleAt('access/web-guard.js'))
    return { ...resolved, url: moduleOf(GUARD), format: 'module' };
  if (resolved.url === moduleAt('access/origins.js'))
    return { ...resolved, url: moduleOf(careless(resolved.url)), format: 'module' };
  return resolved;
};

const WRITTEN = 'of headers)';
const WRITTEN_WITHOUT = `of headers
  .map(([name, value]) => [name, value.replace("frame-ancestors 'none'; ", '')]))`;
const DEFENDED = 'of DEFENSIVE_HEADERS)';

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  if (url !== moduleAt('http/head.js')) return loaded;
  const source = String(loaded.source);
  if (!source.includes(WRITTEN) || !source.includes(DEFENDED))
    throw new Error('http/head.js writes its headers in another way');
  return { ...loaded, source: source.replace(DEFENDED, 'of [])').replace(WRITTEN, WRITTEN_WITHOUT) };
};
