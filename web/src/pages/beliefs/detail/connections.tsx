import type { ApiBelief, RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { counted } from '../../../format/numbers.ts'
import { moment } from '../../../format/time.ts'
import { Link } from '../../../navigation/link.tsx'
import { address } from '../../../navigation/match.ts'
import { navigate } from '../../../navigation/router.ts'
import { fixed } from '../../../plots/scale.ts'

type Links = RouteAnswer<'beliefLinks'>

/** What a belief is connected to, by name and both ways, and how often it is recalled. */
export function Connections({ belief, links }: { readonly belief: ApiBelief; readonly links: Links }) {
  const groups = groupsOf(links)
  return (
    <>
      <section class="detail-part">
        <h3 class="part-title">Recalled</h3>
        <p>
          {links.recalled === null ? (
            <span class="soft">Never.</span>
          ) : (
            <>
              {counted(links.recalled.count, 'time')}, last on {moment(links.recalled.lastAt)}
            </>
          )}
        </p>
      </section>
      {groups.length === 0 && links.turn === null ? null : (
        <section class="detail-part">
          <h3 class="part-title">{groups.length === 0 ? 'Came from' : 'Connected'}</h3>
          {groups.length === 0 ? null : <EgoGraph belief={belief} groups={groups} />}
          <dl class="facts">
            {groups.map(({ label, items }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd class="break">
                  {items.map(({ name, id }, index) => (
                    <span key={`${id}-${name}`}>
                      {index === 0 ? '' : ', '}
                      {id === null ? name : <Link href={address('beliefs', id)}>{name}</Link>}
                    </span>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
          {links.turn === null ? null : (
            <blockquote class="quote prose small" dir="auto">
              {links.turn.text.slice(0, 500)}
              <span class="soft small block">
                Said on {moment(links.turn.at, links.turn.utcOffset)} ·{' '}
                <Link
                  href={`${address('conversations', links.turn.session)}?turn=${encodeURIComponent(links.turn.id)}`}
                >
                  See the conversation
                </Link>
              </span>
            </blockquote>
          )}
        </section>
      )}
    </>
  )
}

type Group = {
  readonly label: string
  readonly items: readonly { readonly name: string; readonly id: string | null }[]
}

function groupsOf(links: Links): readonly Group[] {
  // A version of the same belief is told apart by its text.
  const nameOf = ({ name, content }: ApiBelief) => (name === links.belief.name ? content : name)
  const named = (beliefs: readonly (ApiBelief | null)[]) =>
    beliefs.flatMap((one) => (one === null ? [] : [{ name: nameOf(one), id: one.id }]))
  return [
    {
      label: links.belief.relation ?? 'Connects',
      items: links.participants.map(({ name, belief }) => ({ name, id: belief?.id ?? null })),
    },
    { label: 'Part of', items: named(links.relations) },
    { label: 'Settles', items: named(links.settles) },
    { label: 'Settled by', items: named([links.settledBy]) },
    { label: 'Replaces', items: named(links.replaces) },
    { label: 'Replaced by', items: named([links.replacedBy]) },
  ].filter(({ items }) => items.length > 0)
}

const [width, nodeWidth, nodeHeight] = [680, 180, 34]
/** More would lie on top of each other; the list below has all. */
const mostNodes = 10

/** The belief in the middle, what it is connected to on both sides, each line with its meaning. */
function EgoGraph({ belief, groups }: { readonly belief: ApiBelief; readonly groups: readonly Group[] }) {
  const nodes = groups.flatMap(({ label, items }) => items.map((item) => ({ ...item, label }))).slice(0, mostNodes)
  const rows = Math.ceil(nodes.length / 2)
  const height = Math.max(1, rows) * (nodeHeight + 18) + 8
  // One alone stands beside it; more stand on both sides.
  const [middle, centre] = [nodes.length === 1 ? nodeWidth / 2 + 1 : width / 2, height / 2]
  const placed = nodes.map((node, index) => {
    // Right and left in turn, from top to bottom; a side with fewer nodes is centred.
    const isRight = index % 2 === 0
    const onSide = isRight ? Math.ceil(nodes.length / 2) : Math.floor(nodes.length / 2)
    const y = centre + (Math.floor(index / 2) - (onSide - 1) / 2) * (nodeHeight + 18)
    const right = nodes.length === 1 ? middle + nodeWidth + 90 : width - nodeWidth / 2 - 1
    return { ...node, y, x: isRight ? right : nodeWidth / 2 + 1 }
  })
  const edge = nodeWidth / 2
  return (
    <svg
      class="ego"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${belief.name} and ${counted(nodes.length, 'connection')}`}
    >
      {placed.map(({ x, y, label, name }) => {
        const side = x > middle ? 1 : -1
        const [from, to] = [middle + side * edge, x - side * edge]
        return (
          <g key={`${label}-${name}`}>
            <path
              class="ego-line"
              d={`M${from} ${centre} C${(from + to) / 2} ${centre} ${(from + to) / 2} ${fixed(y)} ${fixed(to)} ${fixed(y)}`}
            />
            <text class="ego-label" x={fixed((from + to) / 2)} y={fixed((centre + y) / 2 - 5)} text-anchor="middle">
              {label}
            </text>
          </g>
        )
      })}
      {placed.map(({ x, y, id, name, label }) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the list below has the same as links.
        <g
          key={`${label}-${name}-node`}
          class={id === null ? 'ego-node' : 'ego-node choosable'}
          onClick={() => id !== null && navigate(address('beliefs', id))}
        >
          <Node x={x} y={y} name={name} />
        </g>
      ))}
      <g class="ego-node here">
        <Node x={middle} y={centre} name={belief.name} />
      </g>
    </svg>
  )
}

function Node({ x, y, name }: { readonly x: number; readonly y: number; readonly name: string }) {
  return (
    <>
      <rect x={fixed(x - nodeWidth / 2)} y={fixed(y - nodeHeight / 2)} width={nodeWidth} height={nodeHeight} rx="8" />
      <text x={fixed(x)} y={fixed(y + 4.5)} text-anchor="middle">
        {name.length > 22 ? `${name.slice(0, 21).trimEnd()}…` : name}
      </text>
    </>
  )
}
