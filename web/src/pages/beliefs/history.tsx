import type { Belief } from '../../../../src/beliefs/belief.ts'
import type { ApiBelief, Revision, RouteAnswer } from '../../../../src/http/api/contract.ts'
import { pluralize } from '../../format/numbers.ts'
import { moment } from '../../format/time.ts'
import { eventWords, throughWords, whoWords } from '../../format/words.ts'
import { address } from '../../navigation/match.ts'
import { Link, navigate } from '../../navigation/router.tsx'
import { fixed } from '../../plots/scale.ts'
import { Badge, Time, UndoButton, WordDiff } from '../../ui/elements.tsx'
import { changesBetween } from './belief-state.ts'
import { type PlacedLink, placeChain } from './chain-lanes.ts'

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
              {pluralize(links.recalled.count, 'time')}, last on {moment(links.recalled.lastAt)}
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
const maxNodes = 10

/** The belief in the middle, what it is connected to on both sides, each line with its meaning. */
function EgoGraph({ belief, groups }: { readonly belief: ApiBelief; readonly groups: readonly Group[] }) {
  const nodes = groups.flatMap(({ label, items }) => items.map((item) => ({ ...item, label }))).slice(0, maxNodes)
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
      aria-label={`${belief.name} and ${pluralize(nodes.length, 'connection')}`}
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
        aria-label={`A line of ${pluralize(placed.length, 'belief')}, the newest on top`}
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

type HistoryTimelineProps = {
  readonly revisions: readonly Revision[]
  readonly total: number
  /** Beliefs that replaced or settled it. */
  readonly known: readonly ApiBelief[]
}

/** Everything that happened to a belief, newest first, each with what it changed. */
export function HistoryTimeline({ revisions, total, known }: HistoryTimelineProps) {
  const steps = revisions.map((revision, index) => ({ revision, before: revisions[index - 1]?.belief ?? null }))
  return (
    <>
      <ol class="timeline">
        {steps.toReversed().map(({ revision, before }) => (
          <Step key={revision.event.number} revision={revision} before={before} known={known} />
        ))}
      </ol>
      {total > revisions.length ? (
        <p class="soft small">
          The latest {revisions.length} of {total} changes.
        </p>
      ) : null}
    </>
  )
}

type StepProps = Pick<HistoryTimelineProps, 'known'> & {
  readonly revision: Revision
  readonly before: Revision['belief']
}

function Step({ revision, before, known }: StepProps) {
  const { event, outcome, belief } = revision
  const changes = changesBetween(before, belief, known)
  return (
    <li class="timeline-step">
      <p class="timeline-head">
        <b>{sentence(revision)}</b>
        <span class="soft small">
          {whoWords(event)}
          {throughWords(event)}, <Time at={event.at} />, change {event.number}
        </span>
        {event.undoneBy === null ? null : <Badge>undone</Badge>}
        <UndoButton event={event} />
      </p>
      {outcome === 'erased' ? <p class="soft">Its text was erased.</p> : null}
      {changes.length === 0 ? null : (
        <dl class="field-changes">
          {changes.map(({ field, before: was, after }) => (
            <div key={field}>
              <dt>{field}</dt>
              <dd>
                <WordDiff before={was} after={after} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
}

/** Of events whose word needs an object. */
const wordsAlone: Readonly<Partial<Record<Revision['event']['kind'], string>>> = {
  alias: 'aliases changed',
  learn: 'learned from a message',
}

const sentence = ({ event, outcome }: Revision): string => {
  if (event.kind === 'undo') return `Change ${event.undoes ?? ''} undone`
  if (outcome === 'absent') return 'Withdrawn'
  const word = wordsAlone[event.kind] ?? eventWords[event.kind]
  return word.charAt(0).toUpperCase() + word.slice(1)
}
