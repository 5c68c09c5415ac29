/**
 * Keys of the program whose interface this service has, as its own configuration files have them. They are not typos
 * of keys of this service, so such a file starts; a line for each names its replacement.
 */

const ALWAYS = 'it is always on';

/** Dotted key or section → its replacement. */
export const ORIGIN_KEYS: ReadonlyMap<string, string> = new Map([
  ['display', 'the name that is shown is host.name'],
  ['websocket', 'clients choose their topics, and the interval is stats.stream_interval_seconds'],
  ['features.enable_system', ALWAYS],
  ['features.enable_usage', ALWAYS],
  ['features.enable_stats', ALWAYS],
  ['features.enable_stream', ALWAYS],
  ['features.enable_autostart', 'the operating system starts the service'],
  ['stats.gpu_enabled', 'the GPU is read where there is one'],
  ['stats.disk_cache_seconds', 'a disk that does not answer keeps its last values'],
]);
