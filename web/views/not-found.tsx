import { Notice } from '../components/notice.tsx';
import { useServices, useTitle } from '../state/hooks.ts';
import { useFiguresAlone } from '../state/stats.ts';

/** An address that names no view. */
export function NotFoundView() {
  const { router } = useServices();
  const { path } = router.place.value;
  useFiguresAlone();
  useTitle('Nothing here');
  return (
    <Notice title="There is nothing at this address">
      <p>
        No view is called <code class="not-found-path">{path}</code>. It may be mistyped, or cut short.
      </p>
      <p class="notice-actions">
        <a class="button" href="/">
          To the fleet
        </a>
        <a class="button" href="/?show=devices">
          To the devices
        </a>
      </p>
    </Notice>
  );
}
