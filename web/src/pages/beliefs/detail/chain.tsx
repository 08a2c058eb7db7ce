import type { Belief } from '../../../../../src/beliefs/belief.ts'
import { counted } from '../../../format/numbers.ts'
import { Link } from '../../../navigation/link.tsx'
import { address } from '../../../navigation/match.ts'
import { fixed } from '../../../plots/scale.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Time } from '../../../ui/time.tsx'
import { type PlacedLink, placeChain } from './chain-lanes.ts'

const row = 58
const lane = 18
const radius = 5

/** What replaced what, newest on top. The lines go from the older to what took its place. */
export function Chain({ chain, current }: { readonly chain: readonly Belief[]; readonly current: string }) {
  const placed = placeChain(chain)
  const lanes = Math.max(...placed.map((one) => one.lane)) + 1
  const width = lanes * lane + 8
  return (
    <div class="chain">
      <svg
        width={width}
        height={placed.length * row}
        viewBox={`0 0 ${width} ${placed.length * row}`}
        role="img"
        aria-label={`A line of ${counted(placed.length, 'belief')}, the newest on top`}
      >
        {placed.map((one) =>
          one.heir === null ? null : <path key={one.link.id} class="chain-line" d={lineTo(one, one.heir)} />,
        )}
        {placed.map(({ link, ...place }) => (
          <circle
            key={link.id}
            class={`chain-node ${link.id === current ? 'here' : ''} ${link.supersededBy === null ? 'head' : ''}`}
            cx={centre(place).x}
            cy={centre(place).y}
            r={link.id === current ? radius + 1.5 : radius}
          />
        ))}
      </svg>
      <ol class="chain-rows">
        {placed.map(({ link }) => (
          <li key={link.id} class="chain-row">
            <span class="chain-name">
              {link.id === current ? (
                <b aria-current="true">{link.name}</b>
              ) : (
                <Link href={address('beliefs', link.id)}>{link.name}</Link>
              )}
              {link.supersededBy === null && link.resolvedAt === null ? <Badge tone="good">current</Badge> : null}
            </span>
            <span class="chain-text" dir="auto">
              {link.content}
            </span>
            <span class="chain-time soft small">
              <Time at={link.createdAt} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  )
}

const centre = ({ row: at, lane: on }: { readonly row: number; readonly lane: number }) => ({
  x: 10 + on * lane,
  y: at * row + 20,
})

function lineTo(from: PlacedLink<Belief>, to: { readonly row: number; readonly lane: number }): string {
  const [start, end] = [centre(from), centre(to)]
  if (start.x === end.x) return `M${start.x} ${start.y}V${end.y}`
  const bend = end.y + row * 0.6
  return `M${start.x} ${start.y}V${fixed(bend)}C${start.x} ${fixed(end.y + 18)} ${end.x} ${fixed(bend)} ${end.x} ${end.y}`
}
