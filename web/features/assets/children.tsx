import { useState } from 'preact/hooks';
import { formatCount, formatCounted } from '../../format.ts';
import { assetHref } from './address.ts';
import type { Asset } from './api.ts';
import { type Condition, conditionWords, NO_MEMBERS, worstFirst } from './condition.ts';
import { useDrag } from './drag.ts';
import type { Conditions } from './use-tree.ts';

/** Maximum number of tiles until the user asks for all. */
const FIRST_TILES = 60;

/** Renders a tile for each asset, those with the gravest faults first. */
export function Children({ assets, conditions }: { assets: Asset[]; conditions: Conditions }) {
  const [isAll, setAll] = useState(false);
  const { children, isKnown, isLarge } = conditions;
  const tiles = worstFirst(
    assets.map((asset) => ({ ...asset, condition: children.get(asset.name) ?? NO_MEMBERS })),
  );
  const shown = isAll ? tiles : tiles.slice(0, FIRST_TILES);
  return (
    <section aria-label="Assets below" class="asset-children">
      <ul class="asset-tiles">
        {shown.map((tile) => (
          <li key={tile.asset_id}>
            <Tile asset={tile} condition={tile.condition} {...{ isKnown, isLarge }} />
          </li>
        ))}
      </ul>
      {shown.length < tiles.length && (
        <button type="button" class="button" onClick={() => setAll(true)}>
          Show all {formatCount(tiles.length)}
        </button>
      )}
    </section>
  );
}

function Tile({
  asset,
  condition,
  isKnown,
  isLarge,
}: {
  asset: Asset;
  condition: Condition;
  isKnown: boolean;
  isLarge: boolean;
}) {
  const { path, name, level, children } = asset;
  const { source, target } = useDrag();
  const { text, tone } = conditionWords(condition);
  // In a large fleet, silent sensors are unknown, so only faults are shown.
  const isJudged = isKnown || (isLarge && tone !== 'good') || tone === 'quiet';
  const counts = [
    children > 0 && `${formatCounted(children, 'asset')} below`,
    condition.devices > 0 && formatCounted(condition.devices, 'device'),
    isKnown && condition.sensors > 0 && formatCounted(condition.sensors, 'sensor'),
  ].filter((count) => count !== false);
  return (
    <a
      class="asset-tile"
      href={assetHref(path)}
      data-tone={isJudged ? tone : 'quiet'}
      {...source({ kind: 'asset', asset })}
      {...target({ asset, label: path })}
    >
      <span class="asset-name">{name}</span>
      <span class="asset-level small">{level}</span>
      {isJudged && (
        <span class="asset-condition" data-tone={tone}>
          {text}
        </span>
      )}
      {counts.length > 0 && <span class="asset-counts small">{counts.join(' · ')}</span>}
    </a>
  );
}
