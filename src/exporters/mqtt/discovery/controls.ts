/** The entities of media players and of power: what is playing, what is scheduled, and the commands. */
import type { MediaDetail } from '../../../wire/media.ts';
import type { PowerCapabilities } from '../../../wire/power.ts';
import type { MediaAction, POWER_ACTIONS } from '../../../wire/requests.ts';
import { OFF, type Options, templateOf, yesNo } from './entity.ts';
import type { Topics } from './topics.ts';

/** A component without its unique id; the key is the id. */
export interface Control extends Options {
  readonly name: string;
}
export type Controls = Readonly<Record<string, Control>>;

export const MEDIA_STATES = ['playing', 'paused', 'idle', 'stopped'] as const;
export const NO_ACTION = 'none';

const MAX_SEEK_SECONDS = 86_400;

const shown = (topic: string, key: string, name: string, show: Options): Control => ({
  ...show,
  name,
  state_topic: topic,
  value_template: templateOf(key),
});

const text = (icon: string): Options => ({ platform: 'sensor', icon });

/** Its payload is that of the same command over HTTP or WebSocket. */
const button = (topics: Topics, command: string, name: string, show: Partial<Options>): Control => ({
  platform: 'button',
  ...show,
  name,
  command_topic: topics.command(command),
  payload_press: '{}',
});

const MEDIA_BUTTONS: readonly (readonly [action: MediaAction, name: string, icon: string])[] = [
  ['play', 'Play', 'mdi:play'],
  ['pause', 'Pause', 'mdi:pause'],
  ['play_pause', 'Play or pause', 'mdi:play-pause'],
  ['stop', 'Stop', 'mdi:stop'],
  ['next', 'Next track', 'mdi:skip-next'],
  ['previous', 'Previous track', 'mdi:skip-previous'],
];

function mediaSensors({ media }: Topics): Controls {
  return {
    media_state: shown(media, 'state', 'Media state', {
      platform: 'sensor',
      device_class: 'enum',
      options: MEDIA_STATES,
    }),
    media_playing: shown(media, 'playing', 'Media playing', yesNo('running')),
    media_title: shown(media, 'title', 'Media title', text('mdi:music')),
    media_artist: shown(media, 'artist', 'Media artist', text('mdi:account-music')),
    media_album: shown(media, 'album', 'Media album', text('mdi:album')),
    media_player: shown(media, 'player', 'Media player', text('mdi:speaker')),
  };
}

const ARGUMENT = (name: string) => `{{ {'${name}': value} | tojson }}`;

/** A switch has one topic for both ways: the action is in its payload, as in the body of POST /api/media/control. */
function mediaSettings(topics: Topics, players: readonly string[]): Controls {
  const { media, command } = topics;
  return {
    // There is no command that only selects: the player that began to play last is the selected one.
    media_select_player: {
      ...shown(media, 'player', 'Play on', { platform: 'select', icon: 'mdi:speaker-multiple' }),
      options: [...new Set(players)],
      command_topic: command('media.play'),
      command_template: ARGUMENT('player'),
    },
    media_volume: {
      ...shown(media, 'volume', 'Volume', { platform: 'number', icon: 'mdi:volume-high' }),
      min: 0,
      max: 100,
      step: 1,
      unit_of_measurement: '%',
      command_topic: command('media.set_volume'),
      command_template: ARGUMENT('value'),
    },
    media_mute: {
      ...shown(media, 'muted', 'Mute', { platform: 'switch', icon: 'mdi:volume-mute' }),
      state_on: 'True',
      state_off: 'False',
      command_topic: command('media'),
      payload_on: '{"action":"mute"}',
      payload_off: '{"action":"unmute"}',
    },
    media_position: {
      ...shown(media, 'position', 'Position', { platform: 'number', device_class: 'duration', ...OFF }),
      min: 0,
      max: MAX_SEEK_SECONDS,
      step: 1,
      mode: 'box',
      unit_of_measurement: 's',
      command_topic: command('media.seek'),
      command_template: ARGUMENT('value'),
    },
  };
}

/** Conditions of entities that not every player supports at all times. */
const NEEDS: Readonly<Record<string, (status: MediaDetail) => boolean>> = {
  media_volume: ({ volume }) => volume !== null,
  media_mute: ({ volume }) => volume !== null,
  media_position: ({ position }) => position !== null,
};

/** `known`: the components of the last document. A player without a volume does not take the volume away again. */
export function mediaControls(
  topics: Topics,
  status: MediaDetail,
  known: { has(id: string): boolean },
): Controls {
  const all: Controls = {
    ...mediaSensors(topics),
    ...Object.fromEntries(
      MEDIA_BUTTONS.map(([action, name, icon]) => [
        `media_do_${action}`,
        button(topics, `media.${action}`, name, { icon }),
      ]),
    ),
    ...mediaSettings(topics, status.players),
    media_cover: { platform: 'image', name: 'Cover', image_topic: topics.art, image_encoding: 'b64' },
  };
  return Object.fromEntries(
    Object.entries(all).filter(([id]) => known.has(id) || (NEEDS[id]?.(status) ?? true)),
  );
}

const POWER_BUTTONS: Readonly<Record<(typeof POWER_ACTIONS)[number], [string, Partial<Options>]>> = {
  sleep: ['Sleep', { icon: 'mdi:power-sleep' }],
  hibernate: ['Hibernate', { icon: 'mdi:snowflake' }],
  lock: ['Lock', { icon: 'mdi:lock' }],
  restart: ['Restart', { device_class: 'restart' }],
  shutdown: ['Shut down', { icon: 'mdi:power' }],
};

const ACTIONS = Object.keys(POWER_BUTTONS) as (keyof typeof POWER_BUTTONS)[]; // Its own keys are exactly these.

/** Buttons of what the flags allow and the machine can do; nothing of power where that is nothing. */
export function powerControls(topics: Topics, actions: PowerCapabilities): Controls {
  const possible = ACTIONS.filter((action) => actions[action].enabled && actions[action].supported);
  if (possible.length === 0) return {};
  return {
    ...Object.fromEntries(
      possible.map((action) => [
        `power_do_${action}`,
        button(topics, `power.${action}`, ...POWER_BUTTONS[action]),
      ]),
    ),
    power_do_cancel: button(topics, 'power.cancel', 'Cancel power action', { icon: 'mdi:cancel' }),
    power_pending: shown(topics.power, 'pending', 'Pending power action', {
      platform: 'sensor',
      device_class: 'enum',
      options: [NO_ACTION, ...ACTIONS],
    }),
    power_pending_at: shown(topics.power, 'pending_at', 'Pending power action at', {
      platform: 'sensor',
      device_class: 'timestamp',
    }),
  };
}
