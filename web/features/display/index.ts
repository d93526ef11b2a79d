/** A menu in the header: theme and time zone. */
import type { Feature } from '../../feature.ts';
import { DisplayMenu } from './menu.tsx';

export const displayFeature: Feature = { name: 'display', slots: { headerAction: DisplayMenu } };
