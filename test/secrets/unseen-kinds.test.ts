import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { maskSecrets } from '../../src/memory/learn/secrets.ts'
import { fifthKinds, harmlessSentences, type SpokenKind } from './fifth-kinds.ts'
import { fourthKinds, gitleaksKinds, kinds } from './kinds.ts'
import { type Kind, missedKinds, type Shape, type Written } from './random-credentials.ts'
import { type ToldSecret, toldSecrets } from './told-secrets.ts'

/** The rules were made with the first half only. The first result of the second half is in docs/secrets.md. */
const isFirstHalf = ({ label }: Kind): boolean => (createHash('sha256').update(label).digest()[0] ?? 0) < 128
const firstHalf = kinds.filter(isFirstHalf)
const secondHalf = kinds.filter((kind) => !isFirstHalf(kind))

/** A different wording for each sample. A sentence names a credential only if it has no recognisable format. */
const pick = (texts: readonly string[], sample: number): string => texts[sample % texts.length] as string

const sentence = (kind: Kind | SpokenKind, credential: string, sample: number): string => {
  if ('sentences' in kind) return pick(kind.sentences, sample).replace('{}', () => credential)
  const { label, isNamed } = kind
  const named = [
    `The ${label} is ${credential} and it expires in May.`,
    `Here's the ${label} you asked for: ${credential}`,
    `Can you use ${credential} as the ${label} for now?`,
    `I changed our ${label} today, the new one is ${credential}, please tell Ana.`,
    `${label}: ${credential}`,
  ]
  const unnamed = [
    `Please use ${credential} for the deployment tonight and tell me when it is done.`,
    `It prints ${credential} and then stops.`,
    `I pasted "${credential}" into the form.`,
    `We still have ${credential}, can you clean that up?`,
    `${credential}\n`,
  ]
  return pick(isNamed ? named : unnamed, sample)
}

const envFile = ({ env }: Kind, credential: string, sample: number): string => {
  const value = credential.includes('\n') ? `"${credential}"` : credential
  const lines = [
    `${env}=${value}`,
    `export ${env}="${credential}"`,
    `${env}: ${value}`,
    `${env.toLowerCase()} = ${value}`,
    `${env}='${credential}'`,
  ]
  return `NODE_ENV=production\n${pick(lines, sample)}\nPORT=8080\n`
}

const camelCase = (env: string): string => env.toLowerCase().replace(/_(\w)/gu, (_, letter) => letter.toUpperCase())

const json = ({ env }: Kind, credential: string, sample: number): string => {
  const values = [
    { name: 'deployment', [env.toLowerCase()]: credential, region: 'eu-west-1' },
    { name: 'deployment', [camelCase(env)]: credential, region: 'eu-west-1' },
    { services: [{ id: 7, settings: { [env]: credential } }] },
    { name: env, value: credential },
    { [env.toLowerCase().replaceAll('_', '-')]: credential, retries: 3 },
  ]
  return JSON.stringify(values[sample % values.length], null, sample % 2 === 0 ? 0 : 2)
}

const plain =
  (write: (kind: Kind, credential: string, sample: number) => string): Shape =>
  (kind, credential, sample) => ({ text: write(kind, credential, sample), written: credential })

const encoded = (kind: Kind, credential: string, sample: number): string => {
  const contents = [envFile, json, sentence, envFile, json]
  return (contents[sample % contents.length] as typeof json)(kind, credential, sample)
}

const announced = (written: string): Written => ({ text: `The dump ends with ${written} and a line break.`, written })

const shapes: Readonly<Record<string, Shape>> = {
  sentence: plain(sentence),
  'env file': plain(envFile),
  JSON: (kind, credential, sample) => ({
    text: json(kind, credential, sample),
    written: JSON.stringify(credential).slice(1, -1),
  }),
  base64: (kind, credential, sample) =>
    announced(Buffer.from(encoded(kind, credential, sample)).toString(sample % 2 === 0 ? 'base64' : 'base64url')),
  hexadecimal: (kind, credential, sample) => announced(Buffer.from(encoded(kind, credential, sample)).toString('hex')),
  'full-width sentence': (kind, credential, sample) => {
    const wide = (text: string): string =>
      text.replace(/[!-~]/gu, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0))
    return { text: wide(sentence(kind, credential, sample)), written: wide(credential) }
  },
}

describe.each([
  { half: 'the first half', some: firstHalf, maxMissed: 0.05 },
  { half: 'the second half', some: secondHalf, maxMissed: 0.05 },
  { half: 'gitleaks', some: gitleaksKinds, maxMissed: 0.05 },
  { half: 'the fourth set', some: fourthKinds, maxMissed: 0.05 },
  { half: 'the fifth set', some: fifthKinds, maxMissed: 0.18 },
])('secrets of the kinds of $half', ({ half, some, maxMissed }) => {
  it.each(Object.keys(shapes))('are almost all masked in every sample: %s', (name) => {
    const left = missedKinds(some, shapes[name] as Shape)

    process.stderr.write(
      `${half}, ${name}: ${some.length - left.length} of ${some.length}; missed: ${left.join(', ') || 'none'}\n`,
    )
    expect(left.length / some.length).toBeLessThanOrEqual(maxMissed)
  })
})

describe('secrets in sentences and settings', () => {
  const setting = ([secret, , name]: ToldSecret): string => `APP_ENV=production\n${name}=${secret}\nPORT=8080\n`
  const base64Of = (told: ToldSecret): string => Buffer.from(setting(told)).toString('base64')
  const written: Readonly<Record<string, (told: ToldSecret) => readonly [text: string, secret: string]>> = {
    sentence: ([secret, text]) => [text.replace('{}', () => secret), secret],
    'env file': (told) => [setting(told), told[0]],
    JSON: ([secret, , , field]) => [JSON.stringify({ name: 'site', [field]: secret, port: 80 }), secret],
    base64: (told) => [`The dump ends with ${base64Of(told)} and a line break.`, base64Of(told)],
  }

  it.each([
    { shape: 'sentence', minFound: 31 },
    { shape: 'env file', minFound: 31 },
    { shape: 'JSON', minFound: 32 },
    { shape: 'base64', minFound: 31 },
  ])('are mostly masked: $shape', ({ shape, minFound }) => {
    const isMasked = (told: ToldSecret): boolean => {
      const [text, secret] = written[shape]?.(told) ?? ['', '']
      const start = text.indexOf(secret)
      return /^\u2588+$/u.test(maskSecrets(text).slice(start, start + secret.length))
    }

    const found = toldSecrets.filter(isMasked).length

    process.stderr.write(`the sixth set, ${shape}: ${found} of ${toldSecrets.length}\n`)
    expect(found).toBeGreaterThanOrEqual(minFound)
  })
})

it('does not change harmless sentences', () => {
  const changed = harmlessSentences.filter((text) => maskSecrets(text) !== text)

  expect(changed).toEqual([])
})
