import { Link } from './link.tsx'

type Crumb = { readonly name: string; readonly href?: string }

/** The way from the outermost page to this one, which comes last and leads nowhere. */
export function Crumbs({ steps }: { readonly steps: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Where you are">
      <ol>
        {steps.map(({ name, href }) => (
          <li key={name} class="break">
            {href === undefined ? <span aria-current="page">{name}</span> : <Link href={href}>{name}</Link>}
          </li>
        ))}
      </ol>
    </nav>
  )
}
