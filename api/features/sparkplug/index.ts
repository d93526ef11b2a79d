/** Receives messages of Sparkplug B as its host application (setting `SPARKPLUG`). */
import { defineFeature } from '../../feature.ts';
import { CHANNELS, MESSAGES } from './channels.ts';
import { RIGHTS } from './rights.ts';
import { SPARKPLUG_SETTINGS } from './settings.ts';
import { EDGE_TOPICS, openEdgeTopics } from './topics.ts';

export const sparkplugFeature = defineFeature({
  name: 'sparkplug',
  settings: [SPARKPLUG_SETTINGS],
  channels: CHANNELS,
  messages: MESSAGES,
  contractTopics: EDGE_TOPICS,
  topics: openEdgeTopics,
  brokerRights: () => RIGHTS,
});
