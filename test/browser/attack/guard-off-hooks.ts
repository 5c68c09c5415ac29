/**
 * What "guard off" means: `access/web-guard.js` lets everything through, and `access/origins.js` answers as a careless
 * server does: any origin may read, with credentials, and any preflight is granted. Nothing else is another.
 */
import type { ResolveHook } from 'node:module';

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
  if (context.parentURL?.startsWith('data:') === true) return resolved;
  if (resolved.url.endsWith('/dist/access/web-guard.js'))
    return { ...resolved, url: moduleOf(GUARD), format: 'module' };
  if (resolved.url.endsWith('/dist/access/origins.js'))
    return { ...resolved, url: moduleOf(careless(resolved.url)), format: 'module' };
  return resolved;
};
