import type { HandlerDeps, TopicReader } from '../../ingest/topics.ts';
import type { Context } from '../../observability/index.ts';
import { createMappedHandler } from './handler.ts';
import { MAPPED, Mappings } from './mappings.ts';
import { MAPPING_SETTINGS } from './settings.ts';
import { UnmatchedTopics } from './unmatched-topics.ts';

/** The mapped topics of a process, and the topics that no mapping reads. */
export class MappedTopics implements TopicReader {
  kind = MAPPED;
  handler;
  match;
  subscriptions;
  unknownTopicHint = 'MQTT_MAPPINGS can add it';
  onUnmatched;
  unmatched;

  /** @throws `bad_settings` */
  constructor(context: Context, deps: HandlerDeps) {
    const { clock, config } = context;
    const mappings = Mappings.load(config.of(MAPPING_SETTINGS).file);
    mappings.checkPatterns(deps.contract.prefixes);
    this.handler = createMappedHandler(context, deps);
    this.match = mappings.match.bind(mappings);
    this.subscriptions = { ...mappings.filters, hint: 'allow it at the broker, or change MQTT_MAPPINGS' };
    this.unmatched = new UnmatchedTopics({ clock });
    this.onUnmatched = this.unmatched.note.bind(this.unmatched);
  }
}
