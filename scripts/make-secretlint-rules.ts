// Writes src/memory/learn/secretlint-rules.ts from the rules of secretlint, as packed in the npm package
// @secretlint/secretlint-rule-preset-recommend:
//   node scripts/make-secretlint-rules.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const preset = '@secretlint/secretlint-rule-preset-recommend'
const target = new URL('../src/memory/learn/secretlint-rules.ts', import.meta.url)

/**
 * The patterns of the preset that describe a single word. The others (addresses with a password, private keys, settings) match
 * white space or anything up to a quote, or check the length in code; src/memory/learn/ has its own rules for these. The search
 * that uses the patterns checks where a word begins.
 */
export function secretlintRules(bundle: string): readonly string[] {
  const declared = [...bundle.matchAll(/const \w*pattern = \/(.+)\/[gimsuvy]+;$/gim)].map(([, source = '']) => source)
  return declared
    .filter((source) => !/\\s|\[\^|\{1,|(?<!\\)\.[{*+]/.test(source))
    .map((source) => source.replace(/^\(\?<!\\p\{L\}\)|^\\b/, '').replace(/\((?!\?)|\(\?<\w+>/g, '(?:'))
}

/** The source file with these rules. */
export const fileWith = (rules: readonly string[], version: string): string => `/**
 * Patterns of secretlint (MIT, see docs/third-party.md), of the version ${version} of its recommended preset. Written by
 * scripts/make-secretlint-rules.ts; do not edit.
 */
// biome-ignore-start format: one rule to a line
export const secretlintRules = (): readonly RegExp[] => [
${rules.map((rule) => `  /${rule}/u,`).join('\n')}
]
// biome-ignore-end format: one rule to a line
`

/** The source file generated from the installed preset; null if it is not installed. */
export function generated(): string | null {
  let entry: string
  try {
    entry = fileURLToPath(import.meta.resolve(preset))
  } catch {
    return null
  }
  const { version } = JSON.parse(readFileSync(new URL('../package.json', `file://${entry}`), 'utf8'))
  return fileWith(secretlintRules(readFileSync(entry, 'utf8')), version)
}

if (import.meta.main) {
  const text = generated()
  if (text === null) throw new Error(`The package ${preset} is not installed. Run npm ci.`)
  writeFileSync(target, text)
}
