import type { StreamStatus } from './connection.ts';
import type { Target } from './target.ts';

/** The state of a tab, which the tab sends at each change, and every `RENEW_MS`. */
export interface TabState {
  target: Target | null;
  isShown: boolean;
  /** further kinds of events that the tab reads; equal for all tabs of a version */
  events?: readonly string[];
  /** `snapshot`: the tab needs all values of the target; `fresh`: the API must send them again */
  wants?: 'snapshot' | 'fresh' | undefined;
}

/** A message to a tab. `items`, `stats` and `event` carry JSON of the API. */
export type HubMessage =
  | { type: 'status'; status: StreamStatus }
  | { type: 'items'; text: string; isLast: boolean }
  | { type: 'stats'; text: string }
  | { type: 'event'; name: string; text: string }
  | { type: 'refused' };

/** Interval in ms in which a tab repeats its state. */
export const RENEW_MS = 2_000;

export interface Transport {
  post: (state: TabState) => void;
  close: () => void;
}

export interface Listeners {
  onMessage: (message: HubMessage) => void;
  /** is called when another hub begins, which needs the state of the tab */
  onNewHub: () => void;
  onFailed: () => void;
}

export type Connect = (listeners: Listeners) => Transport;
