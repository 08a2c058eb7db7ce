import { describe, expect, it } from 'vitest'
import { recall } from '../../src/memory/recall/recall.ts'
import { belief, portsWith } from './fixtures.ts'

const found = async (form: string, message: string): Promise<boolean> => {
  const ports = await portsWith(belief({ id: 'target', name: 'unmentioned thing', aliases: [form] }))
  const { relevant } = await recall(ports, { user: 'ann', scopes: ['domain:code'], message })
  return relevant.some(({ belief: { id } }) => id === 'target')
}

describe('a whole surface form in the message is found', () => {
  it.each([
    ['Redis', "what's REDIS doing?"],
    ['Redis', 'the (Redis) one'],
    ['Redis', 'say "Redis" again'],
    ['Redis', 'Redis/Valkey'],
    ['Redis', 'Redis—or Valkey'],
    ['Redis', '**Redis** it is'],
    ['Redis', 'try `redis`.'],
    ['Redis', "Redis's eviction"],
    ['Redis', 'redis-cluster mode'],
    ['Redis', 'edit redis.conf now'],
    ['Redis', 'a < 3 and Redis > 5'],
    ['Redis', 'TypeScript in 2024 or Redis??'],
    ['pipe', 'call pipe() here'],
    ['error', 'so many errors'],
    ['exceptions', 'one exception'],
    ['class hierarchies', 'a class hierarchy'],
    ['unit test', 'our unit tests'],
    ['C++', 'I write C++, mostly'],
    ['C++', 'C++17 features'],
    ['C#', 'C# or Java'],
    ['.NET', 'moving to .NET soon'],
    ['node.js', 'Node.js 24'],
    ['node.js', 'nodejs 24'],
    ['nodejs', 'node.js 24'],
    ['A/B test', 'the A/B test failed'],
    ['A/B test', 'two A/B tests'],
    ['try-catch', 'use try/catch everywhere'],
    ['try-catch', 'a try catch block'],
    ['@scope/pkg', 'install @scope/pkg'],
    ['s3', 'copy to s3://bucket/key'],
    ['CI', 'the CI/CD pipeline'],
    ['follow-up', 'two follow-ups'],
    ['user_id', 'the user_ids'],
    ['GUI', 'both GUIs'],
    ['LEDs', 'the LED blinks'],
    ['Jo', 'players: Tom,Jo,Max'],
    ['Jo', 'owner=Jo'],
    ['QA', 'team:QA'],
    ['Redis', 'see \u001b[31mRedis\u001b[0m'],
    ['error handling', 'error <b>handling</b>'],
    ['Redis', 'await this.redis.get(key)'],
    ['Redis', 'docker pull redis@7.2'],
    ['mouse', 'two mice'],
    ['elf', 'how long do elves sleep'],
    ["O'Connor", 'mail Ms. OConnor'],
    ['+1', 'her +1 is vegan'],
    ['e-mail', 'send an email'],
    ['email', 'send an e-mail'],
    ['redis_cache', 'our redis cache'],
    ['redis_cache', 'see redis_cache_config'],
    ['redis cache', 'const redisCache = new Map()'],
    ['redis cache', 'class RedisCache {}'],
    ['redisCache', 'the redis cache is cold'],
    ['event sourced order ledger', 'the event-sourced order ledger'],
    ['the one about the blue horse by the sea', 'read the one about the blue horse by the sea'],
    ['form 1040', 'about form 1040?'],
    ['chapter 7', 'chapter 7, please'],
    ['Müller', 'ask Muller'],
    ['São Paulo', 'flying to Sao Paulo'],
    ['北京', '我明天去北京出差'],
    ['กรุงเทพ', 'ไปกรุงเทพพรุ่งนี้'],
    ['Москва', 'поездка в МОСКВА.'],
    ['R', 'is R good for this?'],
    ['Dr. Elena Vasquez', 'my mentor is Dr. Elena Vasquez.'],
    ['Dr. Elena Vasquez', 'ask dr elena vasquez'],
    ['error handling', 'error\n   handling across lines'],
    ['Redis', '```\nconst client = redis.createClient()\n```'],
    ['allkeys-lru', 'allkeys-lru versus allkeys-lfu'],
  ])('%j in %j', async (form, message) => {
    expect(await found(form, message)).toBe(true)
  })

  it('at the end of a message of a hundred kilobytes', async () => {
    expect(await found('Redis', `${'lorem ipsum dolor sit amet '.repeat(4_000)} Redis`)).toBe(true)
  })
})

describe('a typo is corrected', () => {
  it.each([
    ['error handling', 'eror handling patterns'],
    ['Redis', 'Reedis cache'],
    ['TypeScript', 'typsecript config'],
    ['TypeScript', 'typscript config'],
    ['Mongo', 'mongod'],
    ['moongoose', 'a Mongoose schema'],
    ['kubernetes', 'the kuberentes cluster'],
    ['postgres', 'postgress settings'],
  ])('%j in %j', async (form, message) => {
    expect(await found(form, message)).toBe(true)
  })
})

describe('no belief is found', () => {
  it.each([
    ['helm', 'can you help'],
    ['bun', 'but why'],
    ['nest', 'the next step'],
    ['node', 'please note'],
    ['auth', 'auto scaling'],
    ['React', 'how can I reach the support team'],
    ['deno', 'a demo for them'],
    ['provider', 'she provides it'],
    ['installer', 'it is installed'],
    ['httpx', 'see https://example.org/a'],
    ['Frida', 'lunch on Friday?'],
    ['Franco', 'a trip to France'],
    ['Daniel', 'Daniela called'],
    ['Go', 'a go-to place'],
    ['container', 'it contained water'],
    ['k8s', 'k9s pods'],
    ['Mongo', 'mango pooling'],
    ['redis', 'erdis'],
    ['error handling', 'eror handlng'],
    ['Java', 'JavaScript only'],
    ['TS', 'open src/index.ts'],
    ['JS', 'node.js'],
    ['C', 'I write C++'],
    ['C', 'runs at 85 °C'],
    ['+1', '1 guest'],
    ["I'd", 'the ID card'],
    ['C', 'and C# too'],
    ['C++', 'plain C here'],
    ['.NET', 'the net result'],
    ['net', 'on .NET'],
    ['R', 'our R&D budget'],
    ['B', 'an A/B test'],
    ['Teams', 'the team is away'],
    ['LinkedIn', 'tables linked in the schema'],
    ['FastAPI', 'we need a fast API'],
    ['U.S.', 'give us a hand'],
    ['chapter 7', 'chapter 17'],
    ['chapter 7', 'chapter 7.5'],
    ['form 1040', 'form 1041'],
    ['version 3', 'version 3.12'],
    ['redis cache', 'a redis. Cache it'],
    ['redis cache', 'redis cluster cache'],
    ['Redis', 'mail bob@redis.io'],
    ['error handling', 'error'],
    ['composition over inheritance', 'composition and inheritance'],
  ])('for %j in %j', async (form, message) => {
    expect(await found(form, message)).toBe(false)
  })
})

it.each([
  ['a very long word', 'a'.repeat(200_000)],
  ['a very long camelCase word', 'aB'.repeat(100_000)],
  ['very many accents', `e${'\u0301'.repeat(200_000)}`],
  ['very long punctuation', `.${"'".repeat(200_000)}${'\n '.repeat(100_000)}`],
  ['very many hyphens', 'a-'.repeat(100_000)],
  ['very many typos', 'reddis '.repeat(20_000)],
])('is not slowed down by %s', async (_, message) => {
  expect(await found('Redis', `${message} Redis`)).toBe(true)
})

it('does not lower a score because of an alias for the typo', async () => {
  const score = async (aliases: readonly string[]) => {
    const ports = await portsWith(belief({ name: 'Nethyl', aliases }))
    const { relevant } = await recall(ports, { user: 'ann', scopes: ['domain:code'], message: 'Nethy' })
    return relevant[0]?.score ?? 0
  }

  expect(await score(['Nethy'])).toBeGreaterThanOrEqual(await score([]))
})

it('does not treat a word that is itself a form as a typo for another', async () => {
  const ports = await portsWith(belief({ name: 'reddis' }), belief({ name: 'redis' }))
  const { relevant } = await recall(ports, { user: 'ann', scopes: ['domain:code'], message: 'reddis?' })

  expect(relevant.map(({ belief: { name } }) => name)).toEqual(['reddis'])
})

it('finds a belief that is named in the middle of a long message', async () => {
  const pasted = 'lorem ipsum dolor '.repeat(800)

  expect(await found('Redis', `${pasted}Redis ${pasted}`)).toBe(true)
})
