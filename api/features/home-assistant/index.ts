/** Announces sensors to Home Assistant (setting `HOME_ASSISTANT_PREFIX`). */
import { defineFeature } from '../../feature.ts';
import { CHANNELS, MESSAGES } from './channels.ts';
import { HomeAssistant } from './discovery.ts';

export const homeAssistantFeature = defineFeature({
  name: 'home-assistant',
  channels: CHANNELS,
  messages: MESSAGES,
  /** Home Assistant signs in with the account of the installation, so this account also gets the discovery topics. */
  brokerRights: ({ live: { homeAssistantPrefix: prefix } }) => ({
    installation: prefix === undefined ? [] : [`readwrite ${prefix}/#`],
  }),
  create({ config, live }) {
    const { homeAssistantPrefix: prefix } = config.live;
    if (prefix !== undefined) live.follow(new HomeAssistant({ prefix, send: live.send }));
    return {};
  },
});
