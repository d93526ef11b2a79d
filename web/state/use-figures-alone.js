import { useEffect } from 'preact/hooks';
import { useParts } from './hooks.js';

/** The nil UUID (RFC 9562, section 5.9), which no name becomes: whoever follows it hears the figures of the pipeline only. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** For views that show no sensor: the connection stays, and with it the figures and whether it holds. */
export function useFiguresAlone() {
  const { live } = useParts();
  useEffect(() => live.follow({ devices: [NOBODY] }), [live]);
}
