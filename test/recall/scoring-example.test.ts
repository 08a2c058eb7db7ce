import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { recall } from '../../src/memory/recall/recall.ts'
import { belief, portsWith } from './fixtures.ts'

const page = readFileSync(new URL('../../docs/scoring.md', import.meta.url), 'utf8')

/** The cells of the Markdown table whose heading row is given. */
function table(heading: string): string[][] {
  const lines = page.split('\n')
  const start = lines.indexOf(heading) + 2
  const end = lines.findIndex((line, index) => index >= start && !line.startsWith('|'))
  return lines.slice(start, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

it('scores the worked example of docs/scoring.md as in its table', async () => {
  const beliefs = table('| name | aliases |').map(([name, aliases]) =>
    belief({ name: name as string, aliases: (aliases as string).split(', ') }),
  )
  const message = /^> (.+)$/mu.exec(page)?.[1] ?? ''
  const { relevant } = await recall(await portsWith(...beliefs), { user: 'ann', scopes: ['domain:code'], message })

  const rows = relevant.flatMap(({ belief: { name }, matches }) =>
    matches.map(({ field, form, explanation }) => [
      name,
      `${field} "${form}"`,
      ...explanation.parts.map(({ value }) => value),
      explanation.value,
    ]),
  )
  const shown = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? Number(cell.toFixed(4)) : cell)))
  const printed = table('| belief | clause | idf | tf | boost | edit | value |').map((row) =>
    row.map((cell, index) => (index < 2 ? cell : Number(cell))),
  )
  expect(shown).toEqual(printed)
  expect(shown).toHaveLength(4)
})
