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

type Section = { readonly name: string; readonly text: string; readonly python: string | null }

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
  return gather(
    starts.map(({ name, end, index }, place) => {
      const next = starts[place + 1]
      const nodes = tree.children.slice(index + 1, next?.index)
      return { name, text: body.slice(end, next?.start).trim(), python: firstPython(nodes) }
    }),
    (name) => name.toLowerCase(),
  )
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

/**
 * Reads the body as the original runner does: any line that begins with `## ` opens a section, in a fence or not, and
 * the code ends at the next three backticks, wherever they stand.
 */
export function readSectionsAsUpstream(body: string): Sections {
  const found: { readonly name: string; readonly lines: string[] }[] = []
  for (const line of body.split('\n')) {
    if (line.startsWith('## ')) found.push({ name: line.slice(3).trim(), lines: [] })
    else found.at(-1)?.lines.push(line)
  }
  return gather(
    found.map(({ name, lines }) => {
      const text = lines.join('\n').trim()
      return { name, text, python: upToBackticks(text) }
    }),
    (name) => name,
  )
}

function upToBackticks(text: string): string | null {
  const fence = '```python'
  const start = text.indexOf(fence)
  const end = start === -1 ? -1 : text.indexOf('```', start + fence.length)
  return end === -1 ? null : text.slice(start + fence.length, end).trim()
}

function gather(sections: readonly Section[], keyOf: (name: string) => string): Sections {
  const byName = new Map<string, Section>()
  const repeated: string[] = []
  for (const section of sections) {
    const known = sectionNames.find((name) => keyOf(name) === keyOf(section.name))
    if (known === undefined) continue
    if (byName.has(known)) repeated.push(known)
    byName.set(known, section)
  }
  return { byName, repeated }
}

/** Where the two ways of reading disagree, for the author to see. */
export function differences(ours: Sections, upstream: Sections): readonly string[] {
  return sectionNames.flatMap((name) => {
    const one = ours.byName.get(name)
    const other = upstream.byName.get(name)
    const texts = name === 'Automated Checks' ? [one?.python?.trim(), other?.python?.trim()] : [one?.text, other?.text]
    const [mine, theirs] = texts.map((text) => text ?? '')
    if (mine === undefined || theirs === undefined || mine === theirs) return []
    return [
      `The section "${name}" has ${mine.length} characters, but the original runner reads ${theirs.length}: it does not know fences. --strict-upstream reads it so too.`,
    ]
  })
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
