import { fromMarkdown } from 'mdast-util-from-markdown'

type Root = ReturnType<typeof fromMarkdown>
type Block = Root['children'][number]
type Nodes = Root | Block | Extract<Block, { children: unknown }>['children'][number]

/** What stands under a session of the expected behaviour, counted from 1: a point, or the rest of the session's line. */
export type Bullet = { readonly session: number; readonly text: string; readonly isPoint: boolean }

/** Nobody nests points this far, and nesting has no limit in Markdown. */
const deepest = 40

/** "Session 2 (Conversation): Rust, NeonDB." */
const sessionLine = /^session\s+(\d+)\b\s*(?:\([^()]*\))?\s*[:.–—-]*\s*(.*)$/isu

/** What is listed under "Session N" in the expected behaviour of a task, in order. */
export function bulletsBySession(expectedBehavior: string): readonly Bullet[] {
  const bullets: Bullet[] = []
  let session: number | null = null
  const visit = (node: Nodes, isPoint: boolean, depth: number): void => {
    if (node.type === 'heading' || node.type === 'paragraph') {
      const text = textOf(node).trim()
      const [, number, rest = ''] = sessionLine.exec(text) ?? []
      if (number !== undefined) {
        session = Number(number)
        if (rest !== '') bullets.push({ session, text: rest, isPoint: false })
      } else if (isPoint && session !== null && text !== '') bullets.push({ session, text, isPoint })
      return
    }
    if (!('children' in node) || depth > deepest) return
    for (const [index, child] of node.children.entries())
      visit(child, node.type === 'listItem' && index === 0, depth + 1)
  }
  visit(fromMarkdown(expectedBehavior), false, 0)
  return bullets
}

const textOf = (node: Nodes): string => {
  if ('value' in node) return node.value
  return 'children' in node ? node.children.map(textOf).join('') : node.type === 'break' ? ' ' : ''
}
