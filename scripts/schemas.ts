import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { artifactSchemas, artifactTitles } from '../src/eval/store/parse-artifact.ts'

// Writes the JSON Schemas of the evaluation harness's documents to docs/reference/schemas. With --check it writes nothing and fails if
// any is stale.

const directory = fileURLToPath(new URL('../docs/reference/schemas/', import.meta.url))

const kinds = Object.keys(artifactSchemas) as (keyof typeof artifactSchemas)[]
const wanted = new Map(
  kinds.map((kind) => {
    // The input schema, in which fields with a default are optional.
    const { $schema, ...schema } = z.toJSONSchema(artifactSchemas[kind], { io: 'input' })
    const title = `Credence ${artifactTitles[kind]}`
    return [`${kind}.schema.json`, `${JSON.stringify({ $schema, title, ...schema }, null, 2)}\n`]
  }),
)

mkdirSync(directory, { recursive: true })
const present = readdirSync(directory).filter((name) => name.endsWith('.schema.json'))
const stale = [
  ...[...wanted].filter(
    ([name, text]) => !present.includes(name) || readFileSync(join(directory, name), 'utf8') !== text,
  ),
  ...present.filter((name) => !wanted.has(name)).map((name) => [name, null] as const),
]

if (process.argv.includes('--check')) {
  for (const [name] of stale) console.error(`docs/reference/schemas/${name} is stale; run \`node scripts/schemas.ts\`.`)
  if (stale.length > 0) process.exitCode = 1
} else {
  for (const [name, text] of stale) {
    if (text === null) rmSync(join(directory, name))
    else writeFileSync(join(directory, name), text)
    console.log(`docs/reference/schemas/${name} ${text === null ? 'removed' : 'written'}`)
  }
}
