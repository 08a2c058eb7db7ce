import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'rolldown/utils'
import { describe, expect, it } from 'vitest'

/** A node of a syntax tree. Only the fields that the rules need are typed. */
type Node = { readonly type: string; readonly start: number; readonly [field: string]: unknown }

type Rule = { readonly name: string; readonly isBroken: (node: Node) => boolean }

const nodesIn = (value: unknown): readonly Node[] =>
  Array.isArray(value)
    ? value.filter((item) => item !== null)
    : value !== null && value !== undefined
      ? [value as Node]
      : []

/** The value without parentheses and casts, such as `as const`. */
function bareOf(node: Node): Node {
  const isWrapped = ['ParenthesizedExpression', 'TSAsExpression', 'TSSatisfiesExpression'].includes(node.type)
  return isWrapped ? bareOf(node.expression as Node) : node
}

const nameOfNode = ({ type, name }: Node): string => (type === 'Identifier' ? String(name) : '')

const superlative = /^(?:most|least|fewest|longest|shortest|largest|smallest|widest|deepest)(?:[A-Z]|$)/u

const rules: readonly Rule[] = [
  {
    name: 'a literal is written out, not spread into another one',
    isBroken: ({ type, argument }) =>
      type === 'SpreadElement' && ['ObjectExpression', 'ArrayExpression'].includes(bareOf(argument as Node).type),
  },
  {
    name: 'each variable has a declaration',
    isBroken: ({ type, id, init }) => {
      if (type !== 'VariableDeclarator' || (id as Node).type !== 'ArrayPattern' || init === null) return false
      const { type: kind, elements } = bareOf(init as Node)
      return kind === 'ArrayExpression' && nodesIn(elements).every((element) => element.type !== 'SpreadElement')
    },
  },
  {
    name: 'a limit is max…, min… or default…',
    isBroken: ({ type, id, init, params }) => {
      const isNumber = type === 'VariableDeclarator' && init !== null && bareOf(init as Node).type === 'Literal'
      const names = isNumber ? [id as Node] : type.includes('Function') ? nodesIn(params) : []
      return names.some((name) =>
        superlative.test(nameOfNode(name.type === 'AssignmentPattern' ? (name.left as Node) : name)),
      )
    },
  },
  {
    name: 'two values of one kind are a and b',
    isBroken: ({ type, params }) => {
      const names = type.includes('Function') ? nodesIn(params).map(nameOfNode) : []
      return names.includes('one') && names.includes('other')
    },
  },
]

function* nodesBelow(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value) && typeof (value as Node).type === 'string') yield value as Node
  for (const part of Object.values(value)) yield* nodesBelow(part)
}

/** The places that break each rule. */
function breachesIn(file: string, text: string): readonly (readonly string[])[] {
  const nodes = [...nodesBelow(parseSync(file, text).program)]
  const lineOf = ({ start }: Node): number => text.slice(0, start).split('\n').length
  return rules.map(({ isBroken }) => nodes.filter(isBroken).map((node) => `${file}:${lineOf(node)}`))
}

/** Exempt, because each inner list there is one instruction of a WebAssembly program. */
const exempt = ['src/search/minilm/dot-products.ts']

const files = globSync('{src,web,bench,scripts,test,examples}/**/*.{ts,tsx}', {
  exclude: (path) => path.split(/[/\\]/u).some((part) => part === 'node_modules' || part === 'dist'),
}).filter((file) => !exempt.includes(file.replaceAll('\\', '/')))

describe('the style of the code', () => {
  it('follows every rule', () => {
    const breaches = files.map((file) => breachesIn(file, readFileSync(file, 'utf8')))

    expect(files.length).toBeGreaterThan(900)
    for (const [place, { name }] of rules.entries())
      expect([name, ...breaches.flatMap((ofFile) => ofFile[place] as readonly string[])]).toEqual([name])
  }, 120_000)

  it.each([
    ['const c = { ...{ a: 1 }, b: 2 }', 0],
    ["const c = [...(['a'] as const), 'b']", 0],
    ['let [a, b] = [1, 2]', 1],
    ['const longestName = 100', 2],
    ['const f = (most = 10) => most', 2],
    ['const f = (one, other) => one - other', 3],
  ])('finds the planted %s', (text, broken) => {
    expect(breachesIn('planted.ts', text).map(({ length }) => length > 0)).toEqual(
      rules.map((_, place) => place === broken),
    )
  })

  it.each(['const c = { ...(isNew ? { a: 1 } : {}), ...rest }', 'const [first] = [...names]', '[a, b] = [b, a]'])(
    'allows %s',
    (text) => {
      expect(breachesIn('planted.ts', text).flat()).toEqual([])
    },
  )
})
