/** The MQTT interface as a document, with the topics of the core and of all features. */
import { type Core, defineFeature } from '../../feature.ts';
import type { Operation } from '../../http/contract/operation.ts';
import { json, SCHEMAS } from '../../http/index.ts';
import type { Route } from '../../http/route.ts';
import { CHANNELS } from './channels.ts';
import { asyncApiDocument } from './document.ts';
import { MESSAGES } from './messages.ts';

export const readAsyncApi: Operation = {
  id: 'readAsyncApi',
  tag: 'contract',
  scope: 'open',
  summary: 'The MQTT interface, as AsyncAPI 3.0',
  answers: { 200: json(SCHEMAS.Document) },
  problems: [],
};

const routes: Array<Route<Core>> = [
  {
    method: 'get',
    path: '/asyncapi.json',
    operation: readAsyncApi,
    handler({ context: { contracts, version } }) {
      const document = asyncApiDocument(contracts, { version });
      return (_req, res) => {
        res.set({ 'Cache-Control': 'no-cache' }).json(document);
      };
    },
  },
];

export const asyncApiFeature = defineFeature({
  name: 'asyncapi',
  channels: CHANNELS,
  messages: MESSAGES,
  routes,
});
