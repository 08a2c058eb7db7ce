import { fromMarkdown } from 'mdast-util-from-markdown'

type Root = ReturnType<typeof fromMarkdown>
type Block = Root['children'][number]
type NestedNode = Extract<Block, { children: unknown }>['children'][number]

/** The sections of a task's body that are used. Names are compared without case. */
const sectionNames = [
  'Prompt',
  'Expected Behavior',
  'Grading Criteria',
  'Automated Checks',
  'LLM Judge Rubric',
] as const
export type SectionName = (typeof sectionNames)[number]

type Section = { readonly text: string; readonly python: string | null }

/** Sections by name. Of two with the same name the last counts, as in the original; `repeated` names them. */
type Sections = { readonly byName: ReadonlyMap<string, Section>; readonly repeated: readonly string[] }

/** Reads the body as Markdown: a heading is a heading, and what stands in a fence is text. */
export function readSections(body: string): Sections {
  const tree = fromMarkdown(body)
  const starts = tree.children.flatMap((node, index) => {
    if (node.type !== 'heading' || node.depth !== 2) return []
    const start = node.position?.start.offset ?? 0
    const end = node.position?.end.offset ?? start
    const written = body.slice(start, end)
    // A line of dashes below a paragraph makes a heading too, which authors of tasks do not intend.
    const isOwn = written.startsWith('##') && (start === 0 || body[start - 1] === '\n')
    return isOwn ? [{ name: headingText(written), start, end, index }] : []
  })
  const byName = new Map<string, Section>()
  const repeated: string[] = []
  for (const [place, { name, end, index }] of starts.entries()) {
    const known = sectionNames.find((one) => one.toLowerCase() === name.toLowerCase())
    if (known === undefined) continue
    if (byName.has(known)) repeated.push(known)
    const next = starts[place + 1]
    const nodes = tree.children.slice(index + 1, next?.index)
    byName.set(known, { text: body.slice(end, next?.start).trim(), python: firstPython(nodes) })
  }
  return { byName, repeated }
}

const headingText = (written: string): string =>
  written
    .replace(/^#+/u, '')
    .replace(/\s#+\s*$/u, '')
    .trim()

/** The code of the first fence that says it is Python. Walks without recursion: nesting has no limit in Markdown. */
function firstPython(nodes: readonly Block[]): string | null {
  const waiting: (Block | NestedNode)[] = [...nodes].reverse()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.type === 'code' && /^(?:python3?|py)$/iu.test(node.lang ?? '')) return node.value
    if ('children' in node) waiting.push(...[...node.children].reverse())
  }
  return null
}

/** The items of a checklist, ticked or not. What is broken onto an indented line belongs to its item. */
export function checklist(text: string): readonly string[] {
  const items: string[] = []
  let isOpen = false
  for (const line of text.split('\n')) {
    const [, item] = /^\s*[-*+]\s*\[[ xX]\]\s*(\S.*)$/u.exec(line) ?? []
    if (item !== undefined) {
      items.push(item.trim())
      isOpen = true
    } else if (isOpen && /^\s+[^\s\-*+#]/u.test(line)) items.push(`${items.pop()} ${line.trim()}`)
    else isOpen = false
  }
  return items
}
