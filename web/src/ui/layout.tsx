import type { ComponentChildren } from 'preact'
import { Link } from '../navigation/router.tsx'

type PageHeadProps = {
  readonly title: ComponentChildren
  readonly crumbs?: readonly Crumb[]
  readonly tools?: ComponentChildren
  /** The sentence below the title. */
  readonly children?: ComponentChildren
}

export const PageHead = ({ title, crumbs = [], tools, children }: PageHeadProps) => (
  <header class="page-head">
    {crumbs.length === 0 ? null : <Crumbs steps={crumbs} />}
    <h1>{title}</h1>
    {tools === undefined ? null : <div class="row to-end">{tools}</div>}
    {children == null ? null : <p>{children}</p>}
  </header>
)

type Crumb = { readonly name: string; readonly href?: string }

/** The path to this page. The last step is the page itself. */
const Crumbs = ({ steps }: { readonly steps: readonly Crumb[] }) => (
  <nav class="crumbs" aria-label="Where you are">
    <ol class="row">
      {steps.map(({ name, href }) => (
        <li key={name} class="break">
          {href === undefined ? <span aria-current="page">{name}</span> : <Link href={href}>{name}</Link>}
        </li>
      ))}
    </ol>
  </nav>
)

type PanelProps = {
  readonly title?: ComponentChildren
  readonly label?: string | undefined
  /** Shown next to the title; a string in small type. */
  readonly note?: ComponentChildren
  /** Shown at the end of the title's line. */
  readonly tools?: ComponentChildren
  readonly class?: string
  readonly children?: ComponentChildren
}

export function Panel({ title, label, note, tools, class: extra = '', children }: PanelProps) {
  const name = label ?? (typeof title === 'string' ? title : undefined)
  return (
    <section class={`panel ${extra}`} aria-label={name}>
      {title === undefined ? null : (
        <header class="panel-head">
          <h2 class="break">{title}</h2>
          {typeof note === 'string' ? <span class="soft small">{note}</span> : note}
          {tools === undefined ? null : <div class="row to-end">{tools}</div>}
        </header>
      )}
      {children}
    </section>
  )
}

/** Names and values. Rows without a value are left out. */
export const Facts = ({ rows, class: extra = '' }: FactsProps) => (
  <dl class={`facts ${extra}`}>
    {rows.map(([name, value]) =>
      value === null || value === undefined || value === '' ? null : (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
)

type FactsProps = { readonly rows: readonly (readonly [string, ComponentChildren])[]; readonly class?: string }

export type Figure = {
  readonly name: ComponentChildren
  readonly value: ComponentChildren
  readonly note?: ComponentChildren
}

/** Numbers in large type, each with its name and a note. */
export function Figures({
  items,
  class: extra = 'panel',
}: {
  readonly items: readonly Figure[]
  readonly class?: string
}) {
  return (
    <dl class={`figures ${extra}`}>
      {items.map(({ name, value, note }, index) => (
        <div key={index}>
          <dt>{name}</dt>
          <dd class="number">{value}</dd>
          {note === undefined ? null : <dd class="soft">{note}</dd>}
        </div>
      ))}
    </dl>
  )
}

type Column<Row> = {
  readonly head: string
  /** The head is only for screen readers. */
  readonly isHeadHidden?: boolean
  readonly class?: string
  /** Shown before the value in narrow windows, in which the table has no head. */
  readonly label?: string
  readonly cell: (row: Row) => ComponentChildren
}

type TableProps<Row> = {
  readonly columns: readonly (Column<Row> | null)[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

/** A table whose rows become paragraphs in narrow windows. */
export function Table<Row>({ columns, rows, keyOf }: TableProps<Row>) {
  const shown = columns.filter((column) => column !== null)
  return (
    <div class="table-scroll">
      <table class="folding">
        <thead>
          <tr>
            {shown.map(({ head, isHeadHidden, class: extra }) => (
              <th key={head} scope="col" class={extra}>
                {isHeadHidden === true ? <span class="unseen">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map(({ head, class: extra, label, cell }) => (
                <td key={head} class={extra} data-label={label}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
