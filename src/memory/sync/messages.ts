import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { actorKinds } from '../../beliefs/belief.ts'
import { eventKinds } from '../../beliefs/journal.ts'
import { parseScope } from '../../beliefs/scope.ts'
import { turnRoles } from '../../beliefs/turn.ts'
import { invalid, MemoryError, unavailable } from '../../errors.ts'
import { answerMessage, type SendMessage, type SyncContext, type SyncMessage, type SyncReply } from './exchange.ts'

const count = z.int().min(0)
const seen = z.record(z.string().max(100), count)
const scope = z.string().refine((text) => parseScope(text) === text)
const stamp = z.object({ device: z.string().max(100), number: z.int().min(1), hash: z.string(), time: z.int(), seen })
const belief = z.looseObject({
  id: z.string().max(200),
  name: z.string(),
  content: z.string(),
  why: z.string(),
  scopes: z.array(scope).min(1),
  aliases: z.array(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
})
const turn = z.looseObject({
  id: z.string().max(200),
  session: z.string(),
  role: z.enum(turnRoles),
  at: z.iso.datetime(),
  scope,
  host: z.string(),
  origin: z.enum(actorKinds),
  text: z.string(),
  messageId: z.string().nullable(),
  index: z.int().nullable(),
})
const event = z.object({
  stamp,
  kind: z.enum(eventKinds),
  actor: z.enum(actorKinds),
  origin: z.string(),
  at: z.string(),
  undoes: z.object({ device: z.string(), number: count }).nullable(),
  changes: z.array(
    z.union([
      z.object({ beliefId: z.string(), outcome: z.literal('present'), after: belief }),
      z.object({ beliefId: z.string(), outcome: z.enum(['absent', 'erased']), after: z.null() }),
    ]),
  ),
  turns: z.array(turn),
  forgottenTurns: z.array(z.string()),
  fingerprints: z.array(z.string().max(200)),
})
const hello = z.object({
  format: count,
  device: z.string().max(100),
  name: z.string().max(300),
  group: z.string().max(100).nullable(),
  known: z.record(z.string().max(100), z.object({ number: count, hash: z.string().max(100) })),
  keys: z.record(z.string().max(100), z.string().regex(/^[\da-f]{64}$/u)),
})
const group = z.string().max(100)
const code = z.enum(['invalid', 'not_found', 'conflict', 'forbidden', 'unavailable'])
const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), hello }),
  z.object({ type: z.literal('pull'), group, seen, forgetting: z.boolean() }),
  z.object({ type: z.literal('push'), group, events: z.array(event), forgetting: z.boolean() }),
])
const reply = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), hello, waiting: count }),
  z.object({ type: z.literal('events'), events: z.array(event) }),
  z.object({ type: z.literal('taken') }),
  z.object({ type: z.literal('error'), code, message: z.string(), hint: z.string().optional() }),
])

const compress = promisify(gzip)
const decompress = promisify(gunzip)
/** Max bytes of an unpacked message. */
const maxBytes = 200_000_000

/** Packs a message or an answer as one line of text. */
const pack = async (value: object): Promise<string> => (await compress(JSON.stringify(value))).toString('base64')

async function unpack<Value>(text: string, schema: z.ZodType<Value>): Promise<Value> {
  try {
    const bytes = await decompress(Buffer.from(text, 'base64'), { maxOutputLength: maxBytes })
    return schema.parse(JSON.parse(bytes.toString('utf8')))
  } catch (cause) {
    throw invalid(
      'A message of a sync cannot be read.',
      'Check that both sides are Credence, in the same version.',
      cause,
    )
  }
}

/** Answers a packed message. An error that a person can act on is sent as an answer too. */
export async function answerPacked(context: SyncContext, text: string): Promise<string> {
  try {
    // The schema checks the fields that the merge relies on; the store checks the rest.
    return await pack(await answerMessage(context, (await unpack(text, message)) as unknown as SyncMessage))
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    const { code, message: problem, hint } = error
    return pack({ type: 'error', code, message: problem, hint })
  }
}

/** Sends messages through a channel that carries text. */
export const packedSender =
  (exchange: (text: string) => Promise<string>): SendMessage =>
  async (sent) => {
    const answer = await unpack(await exchange(await pack(sent)), reply)
    if (answer.type !== 'error') return answer as unknown as SyncReply
    throw new MemoryError(
      answer.code,
      `The other side refused: ${answer.message}`,
      answer.hint === undefined ? {} : { hint: answer.hint },
    )
  }

/** The error for a server without sync, such as another program or an older version. */
export const notASync = (address: string) =>
  unavailable(`${address} does not answer as Credence does.`, 'Check the address, and that it has the same version.')
