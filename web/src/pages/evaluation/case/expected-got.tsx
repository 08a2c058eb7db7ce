import { type ComponentChildren, toChildArray } from 'preact'
import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { Badge } from '../../../ui/badge.tsx'

type Texts = NonNullable<RouteAnswer<'case'>['texts']>
type Returned = RouteAnswer<'case'>['records'][number]['returned']

/** What a case expects, what came back, and what is missing or should not have come, each with its words. */
export function ExpectedGot({ texts, returned }: { readonly texts: Texts; readonly returned: Returned }) {
  const got = new Set(returned.map(({ id }) => id))
  const wanted = texts.expected.filter(({ must }) => must === 'include')
  const unwanted = texts.expected.filter(({ must }) => must === 'exclude')
  const missing = wanted.filter(({ id }) => !got.has(id))
  const wrong = unwanted.filter(({ id }) => got.has(id))
  return (
    <div class="thirds">
      <Column title="Expected" empty="Nothing in particular.">
        {wanted.map(({ id, tier }) => (
          <Item key={`${tier}-${id}`} id={id} texts={texts} mark={got.has(id) ? 'good' : 'bad'} />
        ))}
      </Column>
      <Column title="Got" empty="Nothing came back.">
        {returned.map(({ id, tier }) => (
          <Item
            key={`${tier ?? ''}-${id}`}
            id={id}
            texts={texts}
            mark={wrong.some((one) => one.id === id) ? 'bad' : wanted.some((one) => one.id === id) ? 'good' : null}
          />
        ))}
      </Column>
      <Column title="Missing or wrong" empty={missing.length + wrong.length === 0 ? 'Nothing.' : ''}>
        {missing.map(({ id }) => (
          <Item key={`missing-${id}`} id={id} texts={texts} mark="bad" note="missing" />
        ))}
        {wrong.map(({ id }) => (
          <Item key={`wrong-${id}`} id={id} texts={texts} mark="bad" note="should not be here" />
        ))}
      </Column>
    </div>
  )
}

type ColumnProps = { readonly title: string; readonly empty: string; readonly children: ComponentChildren }

function Column({ title, empty, children }: ColumnProps) {
  const items = toChildArray(children)
  return (
    <section class="side-text">
      <h3>{title}</h3>
      {items.length === 0 ? <p class="soft">{empty}</p> : <ul class="texts">{items}</ul>}
    </section>
  )
}

type ItemProps = {
  readonly id: string
  readonly texts: Texts
  readonly mark: 'good' | 'bad' | null
  readonly note?: string
}

function Item({ id, texts, mark, note }: ItemProps) {
  const belief = texts.beliefs[id]
  return (
    <li class={mark === null ? 'text-item' : `text-item ${mark}`}>
      <b class="break" title={id}>
        {belief?.name ?? id}
      </b>
      {note === undefined ? null : (
        <>
          {' '}
          <Badge tone="bad">{note}</Badge>
        </>
      )}
      {belief === undefined ? null : (
        <p class="soft small break" dir="auto">
          {belief.content}
        </p>
      )}
    </li>
  )
}
