/** Calls of the generated client in the proof openapi-tools; a test of `npm test` compares them with the document. */

/** One call per operation, by its id, with the status that it must have on a machine without players and bus. */
export const CALLS: Readonly<Record<string, readonly [call: string, status: number]>> = {
  getStatus: ["client.GET('/api/status')", 200],
  getAccess: ["client.GET('/api/access')", 200],
  getUsage: [
    "client.GET('/api/usage', { params: { query: { fields: ['cpu', 'memory'], detail: '1' } } })",
    200,
  ],
  openStream: [
    "client.GET('/api/stream', { params: { query: { fields: ['network'] } }, parseAs: 'stream' })",
    200,
  ],
  getSystem: ["client.GET('/api/system', { params: { query: { detail: '1' } } })", 200],
  openSocket: ["client.GET('/api/ws')", 426],
  getHistory: [
    "client.GET('/api/history', { params: { query: { series: ['cpu.load', 'memory.*'], since: -60 } } })",
    200,
  ],
  listEvents: ["client.GET('/api/events', { params: { query: { limit: 10 } } })", 200],
  getProcessHistory: ["client.GET('/api/history/processes', { params: { query: { at: -60 } } })", 200],
  getPower: ["client.GET('/api/pw')", 200],
  shutdown: ["client.POST('/api/pw/shutdown', { params: { query: { delay: 60 } } })", 200],
  cancelPower: ["client.POST('/api/pw/cancel')", 200],
  restart: ["client.POST('/api/pw/restart', { params: { query: { force: '1' } } })", 200],
  sleep: ["client.POST('/api/pw/sleep')", 200],
  hibernate: ["client.POST('/api/pw/hibernate')", 200],
  lock: ["client.POST('/api/pw/lock')", 200],
  getMedia: ["client.GET('/api/media/status', { params: { query: { detail: '1' } } })", 200],
  getMediaArt: ["client.GET('/api/media/art', { parseAs: 'blob' })", 404],
  controlMedia: ["client.POST('/api/media/control', { body: { action: 'pause' } })", 200],
  listProcesses: [
    "client.GET('/api/processes', { params: { query: { sort: 'memory', limit: 3, grouped: '0' } } })",
    200,
  ],
  getProcess: ["client.GET('/api/processes/{name}', { params: { path: { name: 'node' } } })", 200],
  killProcess: ["client.POST('/api/processes/kill', { body: { pid: 4194303 } })", 404],
  launchProcess: ["client.POST('/api/processes/launch', { body: { app: 'app' } })", 200],
  // No machine of this name: nothing is sent.
  wake: ["client.POST('/api/wake', { body: { host: 'none' } })", 404],
  muteEvents: ["client.POST('/api/events/mute', { body: { what: 'none', seconds: 60 } })", 404],
  getMetrics: ["client.GET('/metrics', { parseAs: 'text' })", 200],
  listKeys: ["client.GET('/api/keys')", 401],
  getOpenapi: ["client.GET('/api/openapi.json')", 200],
};
