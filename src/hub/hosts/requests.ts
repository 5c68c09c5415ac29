/** The request over HTTP that asks an agent for what the hub was asked. */
import { ServiceError } from '../../errors.ts';
import type { Question } from '../../machine/requests.ts';
import type { Params } from '../../params.ts';
import type { SentRequest } from '../pull/connection.ts';

type HttpRequest = Pick<SentRequest, 'method' | 'path' | 'body'>;

const COMMAND = /^([a-z]+)\.([a-z_]{1,64})$/;

/** `?delay=5&force=1`; a list is a key that stands several times. */
function queryOf(params: Params): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined)
        query.append(key, typeof each === 'boolean' ? (each ? '1' : '0') : String(each));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

const get = (path: string, params: Params): HttpRequest => ({
  method: 'GET',
  path: `${path}${queryOf(params)}`,
});

const post = (path: string, params: Params): HttpRequest => ({
  method: 'POST',
  path,
  body: Buffer.from(JSON.stringify(params)),
});

/** `fields=` has no section at all as a name that none has. */
function usageRequest({ sections, detail }: Params): HttpRequest {
  const fields = Array.isArray(sections) ? { fields: sections.join(',') || 'none' } : {};
  return get('/api/usage', { ...fields, ...(detail === true ? { detail } : {}) });
}

/** Each of several names is a parameter of its own: one alone would be read as a list. */
function historyRequest({ series = [], ...params }: Params): HttpRequest {
  const names: readonly unknown[] = Array.isArray(series) ? series : [series];
  const [only] = names;
  const isList = names.length === 1 && String(only).includes(',');
  return get('/api/history', { series: isList ? [only, ''] : names, ...params });
}

const ASKED: Readonly<Record<Question, (params: Params) => HttpRequest>> = {
  system: ({ detail }) => get('/api/system', detail === true ? { detail } : {}),
  usage: usageRequest,
  power: () => get('/api/pw', {}),
  media: (params) => get('/api/media/status', params),
  art: (params) => get('/api/media/art', params),
  processes: (params) => get('/api/processes', params),
  process: ({ pid, name = pid }) => get(`/api/processes/${encodeURIComponent(String(name))}`, {}),
  history: historyRequest,
  process_history: (params) => get('/api/history/processes', params),
};

export const requestOfQuestion = (what: Question, params: Params): HttpRequest => ASKED[what](params);

/** Throws `unknown_action`. */
export function requestOfCommand(name: string, params: Params): HttpRequest {
  const [, group, action = ''] = COMMAND.exec(name) ?? [];
  switch (group) {
    case 'power':
      return { method: 'POST', path: `/api/pw/${action}${queryOf(params)}` };
    case 'media':
      return post('/api/media/control', { ...params, action });
    case 'process':
      return post(`/api/processes/${action}`, params);
    case 'wake':
      return post('/api/wake', params);
    default:
      throw new ServiceError('unknown_action', 'There is no such command.');
  }
}
