import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { typoKeys } from '../../search/typo.ts'
import { analysisVersion, textHash } from '../belief-row.ts'
import { deriveBelief } from '../derived-belief.ts'
import { sample } from '../sample-beliefs.contract.ts'

/** Every rule of the analysis affects at least one of these texts. */
const probes: readonly string[] = [
  'Redis caches',
  'redisCache',
  'node.js',
  'deploy-scripts',
  'Dr. Vasquez',
  "O'Neil’s",
  'Crème brûlée',
  'C++17 and C#',
  'staging port (2)',
  '.NET',
  'HTTPS',
  'Teams',
  'analytics',
  'microservices',
  'PostgreSQL',
  'GraphQLServer',
  '数据库',
  'สวัสดี',
  'हिन्दी',
  'Straße',
  'Łódź',
  '3.5 at 10:30 on 2024-01-15',
  '1,000,000',
  'U.S.',
  'e-mail',
  '⑴ ½ ﬁ',
  'a_b',
  'naïve co-op',
  'knives',
  'series',
  'JSON/YAML',
  'kubernetes',
  'x'.repeat(300),
  'one two three four five six seven',
  'the Gateway API',
  'us',
]

/** Raise this when the derived tables change although the analysis does not. */
const fillingVersion = 4

it('changes with the analysis of texts, so that every index is derived again', () => {
  const read = probes.map((text) => {
    const { forms, typoTargets, texts, nameKey, flags } = deriveBelief(sample({ id: 'b', name: text, content: text }))
    return [forms, typoTargets.map(typoKeys), texts, nameKey, flags, textHash(text)]
  })

  const mark = hash('sha256', JSON.stringify([fillingVersion, read])).slice(0, 16)

  expect(
    analysisVersion,
    `Texts are analysed differently now: set analysisVersion in src/store/belief-row.ts to '${mark}'.`,
  ).toBe(mark)
})
