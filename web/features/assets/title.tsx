import { formatCounted } from '../../format.ts';
import { Breadcrumbs } from '../../kit/navigation.tsx';
import { useMay } from '../../state/session.ts';
import { assetHref, stepsOf, wallHref } from './address.ts';
import type { Asset, AssetDetail, Level } from './api.ts';
import { conditionWords } from './condition.ts';
import type { Action } from './dialogs.tsx';
import { useDrag } from './drag.ts';
import { TOP } from './target-field.tsx';
import type { Conditions } from './use-tree.ts';

/** Renders the path of an asset, from the page of the roots. */
export function Path({ path, asset }: { path: string; asset: AssetDetail | null }) {
  const { target } = useDrag();
  const steps = stepsOf(path).slice(0, -1);
  return (
    <Breadcrumbs
      steps={[
        { label: 'Assets', href: assetHref(null), attributes: target(TOP) },
        ...steps.map((step, index) => {
          const ancestor = asset?.ancestors[index];
          const place = ancestor && { asset: { ...ancestor, path: step.path }, label: step.path };
          return {
            label: step.name,
            href: assetHref(step.path),
            attributes: place ? target(place) : {},
          };
        }),
      ]}
    />
  );
}

/** Renders links to the assets with the same parent. */
export function Siblings({ asset, siblings }: { asset: AssetDetail; siblings: readonly Asset[] }) {
  const { target } = useDrag();
  if (siblings.length < 2) return null;
  return (
    <nav class="asset-siblings" aria-label="Assets of the same parent">
      <ul>
        {siblings.map((each) => (
          <li key={each.asset_id}>
            <a
              href={assetHref(each.path)}
              aria-current={each.asset_id === asset.asset_id ? 'page' : undefined}
              {...target({ asset: each, label: each.path })}
            >
              {each.name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Renders the name of an asset, or of the page of the roots, and its actions. */
export function Title({
  name,
  asset,
  childLevel,
  isRoot,
  isEmpty,
  conditions,
  setAction,
}: {
  name: string;
  asset: AssetDetail | null;
  childLevel: Level | null;
  isRoot: boolean;
  isEmpty: boolean;
  conditions: Conditions;
  setAction: (action: Action) => void;
}) {
  const may = useMay('admin');
  return (
    <div class="title">
      <div>
        <h1>{name}</h1>
        {isRoot ? (
          <p class="lead">Sites, lines and machines, and the devices and sensors at them.</p>
        ) : (
          asset && <Facts asset={asset} conditions={conditions} />
        )}
      </div>
      <div class="asset-actions">
        {asset && may && (
          <>
            <button type="button" class="button" onClick={() => setAction({ kind: 'change', asset })}>
              Rename…
            </button>
            <button type="button" class="button" onClick={() => setAction({ kind: 'move', asset })}>
              Move…
            </button>
            <button type="button" class="button" onClick={() => setAction({ kind: 'retire', asset })}>
              Retire…
            </button>
          </>
        )}
        {asset && (
          <a class="button" href={wallHref(asset.path, childLevel ?? asset.level)}>
            On the wall
          </a>
        )}
        {isRoot && (
          <>
            <a class="button" href="/api/v1/asset-tree" download="assets.csv" data-native>
              Export CSV
            </a>
            {may && (
              <button type="button" class="button" onClick={() => setAction({ kind: 'import' })}>
                Import CSV…
              </button>
            )}
          </>
        )}
        {may && !isEmpty && (isRoot || asset) && asset?.level !== 'machine' && (
          <button
            type="button"
            class="button main-button"
            onClick={() => setAction({ kind: 'create', parent: asset })}
          >
            Create an asset…
          </button>
        )}
      </div>
    </div>
  );
}

function Facts({ asset, conditions }: { asset: AssetDetail; conditions: Conditions }) {
  const { whole, isKnown } = conditions;
  const { text, tone } = conditionWords(whole);
  return (
    <ul class="facts">
      <li>{asset.level}</li>
      {whole.devices + whole.sensors > 0 && (
        <>
          <li class="asset-condition" data-tone={tone}>
            {text}
          </li>
          <li>{formatCounted(whole.devices, 'device')}</li>
          {isKnown && <li>{formatCounted(whole.sensors, 'sensor')}</li>}
        </>
      )}
    </ul>
  );
}
